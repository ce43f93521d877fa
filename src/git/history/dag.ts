import { setImmediate } from 'node:timers/promises'
import type { ChangedPaths } from '../commit-graph/changed-paths.ts'
import type { CommitGraph } from '../commit-graph/commit-graph.ts'
import { BrokenGraph } from '../commit-graph/graph-layer.ts'
import type { Oid } from '../format/oid.ts'
import { type Commit, commitsInTurn } from '../objects/commits.ts'
import { distrustGraph, openGraph } from '../objects/open-graph.ts'
import type { Repository } from '../repository/repository.ts'

/** Thrown if git answers faster, or if only git can answer. */
export class LeaveToGit extends Error {}

/** Maximum commits outside the commit-graph, which are read one by one; with more, git is faster. */
const maxFresh = 400
/** Maximum characters of their messages together, which may have megabytes each. */
const maxFreshCharacters = 8 * 1024 * 1024

/** What a history needs of a commit that the commit-graph lacks. */
type FreshCommit = Pick<Commit, 'oid' | 'tree' | 'parents'> & { readonly seconds: number }

/**
 * The history of some commits as numbered nodes. The node of a commit in the commit-graph is its position there; newer commits
 * follow. All methods are synchronous and need no process.
 */
export class Dag {
  readonly #graph: CommitGraph
  readonly #fresh: readonly FreshCommit[]
  readonly #freshNodes: ReadonlyMap<Oid, number>
  readonly #freshParents: readonly (readonly number[])[]
  readonly #freshGenerations: readonly number[]
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal | undefined

  constructor(graph: CommitGraph, fresh: readonly FreshCommit[], signal: AbortSignal | undefined) {
    this.signal = signal
    this.#graph = graph
    this.#fresh = fresh
    this.#freshNodes = new Map(fresh.map(({ oid }, index) => [oid, graph.count + index]))
    this.#freshParents = fresh.map(({ parents }) => parents.map((oid) => this.node(oid)))
    this.#freshGenerations = this.#generations()
  }

  /** Greater than every node. */
  get size(): number {
    return this.#graph.count + this.#fresh.length
  }

  /** The node of a commit of this history; throws for other commits. */
  node(oid: Oid): number {
    const node = this.#freshNodes.get(oid) ?? this.#graph.find(oid)
    if (node === undefined) throw new Error(`${oid} is not in this history`)
    return node
  }

  oid = (node: number): Oid => (this.#isFresh(node) ? this.#freshCommit(node).oid : this.#graph.oid(node))

  tree = (node: number): Oid => (this.#isFresh(node) ? this.#freshCommit(node).tree : this.#graph.tree(node))

  /** Committer time, in seconds. */
  seconds = (node: number): number =>
    this.#isFresh(node) ? this.#freshCommit(node).seconds : this.#graph.seconds(node)

  parents = (node: number): readonly number[] =>
    this.#isFresh(node) ? this.#freshParents[node - this.#graph.count]! : this.#graph.parents(node)

  /** -1 for a commit without parents. */
  firstParent = (node: number): number =>
    this.#isFresh(node) ? (this.#freshParents[node - this.#graph.count]![0] ?? -1) : this.#graph.firstParent(node)

  isMerge = (node: number): boolean =>
    this.#isFresh(node) ? this.#freshParents[node - this.#graph.count]!.length > 1 : this.#graph.isMerge(node)

  /** Higher than the generation of every parent. */
  generation = (node: number): number =>
    this.#isFresh(node) ? this.#freshGenerations[node - this.#graph.count]! : this.#graph.generation(node)

  /** False only if the path is certainly the same as in the first parent. */
  maybeChanged = (node: number, paths: ChangedPaths): boolean =>
    this.#isFresh(node) || this.#graph.maybeChanged(node, paths)

  /**
   * Sets `marks[node]` to 1 where `maybeChanged` is false. Several times faster than node by node, because the filters are
   * adjacent in memory.
   */
  markUnchanged(paths: ChangedPaths, marks: Uint8Array): void {
    for (const layer of this.#graph.layers)
      for (let at = 0; at < layer.count; at++) if (!layer.maybeChanged(at, paths)) marks[layer.base + at] = 1
  }

  /** The result of `make`, which traverses all history of `tips`; cached as long as the graph. Four bytes per commit. */
  async order(tips: readonly number[], make: () => Promise<Uint32Array>): Promise<Uint32Array> {
    const { orders } = this.#graph
    const key = tips.map(this.oid).join()
    const known = orders.get(key)
    if (known) return known
    const order = await make()
    orders.set(key, order)
    return order
  }

  #isFresh(node: number): boolean {
    return node >= this.#graph.count
  }

  #freshCommit(node: number): FreshCommit {
    return this.#fresh[node - this.#graph.count]!
  }

  /** Computes generations as git does when it writes the graph. */
  #generations(): number[] {
    const { count, hasCorrectedDates } = this.#graph
    const found: number[] = []
    const open = this.#fresh.map((_, index) => index)
    for (let index = open.at(-1); index !== undefined; index = open.at(-1)) {
      const missing = this.#freshParents[index]!.filter((node) => node >= count && found[node - count] === undefined)
      if (found[index] === undefined && missing.length > 0) {
        open.push(...missing.map((node) => node - count))
        continue
      }
      open.pop()
      const least = hasCorrectedDates ? this.#fresh[index]!.seconds : 1
      found[index] = this.#freshParents[index]!.reduce(
        (most, node) => Math.max(most, 1 + (node < count ? this.#graph.generation(node) : found[node - count]!)),
        least,
      )
    }
    return found
  }
}

/**
 * Runs `work` on the history of `tips` without a process. `undefined` if git should answer: too many commits are newer than the
 * commit-graph, the graph is broken or too large, or a tip is not a commit. One round trip per newer commit of a line of
 * history that is not cached.
 */
export async function inDag<Found>(
  repo: Repository,
  tips: readonly Oid[],
  work: (dag: Dag) => Promise<Found>,
): Promise<Found | undefined> {
  try {
    const graph = await openGraph(repo)
    if (graph === 'git') return undefined
    const fresh = await freshCommits(repo, graph, tips)
    return fresh && (await work(new Dag(graph, fresh, repo.signal)))
  } catch (error) {
    if (error instanceof BrokenGraph) distrustGraph(repo)
    else if (!(error instanceof LeaveToGit)) throw error
    return undefined
  }
}

async function freshCommits(
  repo: Repository,
  graph: CommitGraph,
  tips: readonly Oid[],
): Promise<readonly FreshCommit[] | undefined> {
  const fresh = new Map<Oid, FreshCommit>()
  const isNew = (oid: Oid) => !fresh.has(oid) && graph.find(oid) === undefined
  let next = [...new Set(tips.filter(isNew))]
  const tooFar = next.map((oid) => `${repo.cacheKey}beyond ${graph.count} ${oid}`)
  if (tooFar.some((key) => repo.git.cache.has(key))) return undefined
  const leaveToGit = (): undefined => {
    for (const key of tooFar) repo.git.cache.set(key, {}, { size: key.length + 100 })
  }
  let characters = 0
  while (next.length > 0) {
    if (fresh.size + next.length > maxFresh) return leaveToGit()
    const found: Oid[] = []
    let index = 0
    for await (const commit of commitsInTurn(repo, next)) {
      // Not a commit, missing, or dated before 1970: only git can answer.
      if (!commit || commit.oid !== next[index++] || commit.committer.seconds < 0) return undefined
      const { oid, tree, parents, committer } = commit
      fresh.set(oid, { oid, tree, parents, seconds: committer.seconds })
      characters += commit.message.length
      if (characters > maxFreshCharacters) return leaveToGit()
      found.push(...parents)
    }
    next = [...new Set(found.filter(isNew))]
  }
  return [...fresh.values()]
}

/** Nodes visited between two yields to the event loop. */
const stride = 8192

/** Whether a long loop, whose steps count from 1, should `await nextTurn(dag)` now. */
export const isTurnOver = (steps: number): boolean => steps % stride === 0

/** Yields to the event loop. Throws if the client has disconnected. */
export async function nextTurn({ signal }: Dag): Promise<void> {
  await setImmediate()
  signal?.throwIfAborted()
}
