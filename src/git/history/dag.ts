import { setImmediate } from 'node:timers/promises'
import type { ChangedPaths } from '../commit-graph/changed-paths.ts'
import type { CommitGraph } from '../commit-graph/commit-graph.ts'
import { BrokenGraph } from '../commit-graph/graph-layer.ts'
import type { Oid } from '../format/oid.ts'
import { type Commit, readCommits } from '../objects/commits.ts'
import { distrustGraph, openGraph } from '../objects/open-graph.ts'
import type { Repository } from '../repository/repository.ts'

/** A question that git answers faster, or alone. */
export class LeaveToGit extends Error {}

/** Commits that the commit-graph does not have yet are read one by one; with more of them, git is faster. */
const maxFresh = 400

/**
 * The history of some commits, as numbers: `nodes`. Those of the commit-graph are their position there, younger ones
 * come behind. Everything is answered without waiting, and without a process.
 */
export class Dag {
  readonly #graph: CommitGraph
  readonly #fresh: readonly Commit[]
  readonly #freshNodes: ReadonlyMap<Oid, number>
  readonly #freshParents: readonly (readonly number[])[]
  readonly #freshGenerations: readonly number[]
  /** When whoever asks has left. */
  readonly gone: AbortSignal | undefined

  constructor(graph: CommitGraph, fresh: readonly Commit[], gone: AbortSignal | undefined) {
    this.gone = gone
    this.#graph = graph
    this.#fresh = fresh
    this.#freshNodes = new Map(fresh.map(({ oid }, index) => [oid, graph.count + index]))
    this.#freshParents = fresh.map(({ parents }) => parents.map((oid) => this.node(oid)))
    this.#freshGenerations = this.#generations()
  }

  /** More than any node. */
  get size(): number {
    return this.#graph.count + this.#fresh.length
  }

  /** The node of a commit of this history; throws for another. */
  node(oid: Oid): number {
    const node = this.#freshNodes.get(oid) ?? this.#graph.find(oid)
    if (node === undefined) throw new Error(`${oid} is not in this history`)
    return node
  }

  oid = (node: number): Oid => (this.#isFresh(node) ? this.#freshCommit(node).oid : this.#graph.oid(node))

  tree = (node: number): Oid => (this.#isFresh(node) ? this.#freshCommit(node).tree : this.#graph.tree(node))

  /** The committer's clock. */
  seconds = (node: number): number =>
    this.#isFresh(node) ? this.#freshCommit(node).committer.seconds : this.#graph.seconds(node)

  parents = (node: number): readonly number[] =>
    this.#isFresh(node) ? this.#freshParents[node - this.#graph.count]! : this.#graph.parents(node)

  /** -1 for a commit without parents. */
  firstParent = (node: number): number =>
    this.#isFresh(node) ? (this.#freshParents[node - this.#graph.count]![0] ?? -1) : this.#graph.firstParent(node)

  isMerge = (node: number): boolean =>
    this.#isFresh(node) ? this.#freshParents[node - this.#graph.count]!.length > 1 : this.#graph.isMerge(node)

  /** Higher than that of every parent. */
  generation = (node: number): number =>
    this.#isFresh(node) ? this.#freshGenerations[node - this.#graph.count]! : this.#graph.generation(node)

  /** False only when the commit surely left the path as it is in its first parent. */
  maybeChanged = (node: number, paths: ChangedPaths): boolean =>
    this.#isFresh(node) || this.#graph.maybeChanged(node, paths)

  /**
   * Sets to 1, by node, what `maybeChanged` says no of. All at once is several times faster than one by one: filters lie
   * side by side.
   */
  markUnchanged(paths: ChangedPaths, marks: Uint8Array): void {
    for (const layer of this.#graph.layers)
      for (let at = 0; at < layer.count; at++) if (!layer.maybeChanged(at, paths)) marks[layer.base + at] = 1
  }

  /** What `make` finds by walking all history of `tips`, kept for as long as the graph is. Four bytes a commit. */
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

  #freshCommit(node: number): Commit {
    return this.#fresh[node - this.#graph.count]!
  }

  /** As git will compute them when it writes the graph. */
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
      const least = hasCorrectedDates ? this.#fresh[index]!.committer.seconds : 1
      found[index] = this.#freshParents[index]!.reduce(
        (most, node) => Math.max(most, 1 + (node < count ? this.#graph.generation(node) : found[node - count]!)),
        least,
      )
    }
    return found
  }
}

/**
 * What `work` finds out in the history of `tips`, without a process; `undefined` when git should be asked: too much of
 * the history is younger than the commit-graph, it is broken or too large, or some tip is no commit. One round trip for
 * each younger commit in a line that was never read.
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
    return fresh && (await work(new Dag(graph, fresh, repo.gone)))
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
): Promise<readonly Commit[] | undefined> {
  const fresh = new Map<Oid, Commit>()
  const isNew = (oid: Oid) => !fresh.has(oid) && graph.find(oid) === undefined
  let next = [...new Set(tips.filter(isNew))]
  const tooFar = next.map((oid) => `${repo.cacheKey}beyond ${graph.count} ${oid}`)
  if (tooFar.some((key) => repo.git.cache.has(key))) return undefined
  while (next.length > 0) {
    if (fresh.size + next.length > maxFresh) {
      for (const key of tooFar) repo.git.cache.set(key, {}, { size: key.length + 100 })
      return undefined
    }
    for (const [index, commit] of (await readCommits(repo, next)).entries()) {
      // What is no commit, or not there, or older than the calendar: git knows what to say.
      if (!commit || commit.oid !== next[index] || commit.committer.seconds < 0) return undefined
      fresh.set(commit.oid, commit)
    }
    next = [...new Set([...fresh.values()].slice(-next.length).flatMap(({ parents }) => parents.filter(isNew)))]
  }
  return [...fresh.values()]
}

/** Nodes that are seen between two chances for others. */
const stride = 8192

/** Whether a long loop, whose steps count from 1, should `await nextTurn(dag)` now. */
export const isTurnOver = (steps: number): boolean => steps % stride === 0

/** Lets others have their turn. Throws when nobody waits for this walk any more. */
export async function nextTurn({ gone }: Dag): Promise<void> {
  await setImmediate()
  gone?.throwIfAborted()
}
