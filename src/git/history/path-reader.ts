import { type ChangedPaths, changedPathsOf } from '../commit-graph/changed-paths.ts'
import type { Oid } from '../format/oid.ts'
import { pathToBytes } from '../format/path-bytes.ts'
import { objectContent } from '../objects/cat-file.ts'
import { maxTreeBytes } from '../objects/trees.ts'
import type { Repository } from '../repository/repository.ts'
import { type Dag, LeaveToGit } from './dag.ts'

/**
 * Directories that are read for one question. Git has them at hand, but compares all of them when it follows a file.
 */
export const maxReads = { simplified: 500, following: 2500 }

/** Commits that are worth reading at once. */
export const maxAhead = 64

const maxStepsBack = 1000

/** Others have to wait for it. */
const mostAsked = 500_000

const [unchanged, changed] = [1, 2]

/** How a path is in the commits of a history. What is asked in one turn takes one round trip. */
export class PathReader {
  readonly path: string
  /** What may still be read. */
  readonly budget: { left: number }
  readonly #repo: Repository
  readonly #dag: Dag
  readonly #hashes: ChangedPaths | undefined
  readonly #directory: Buffer
  readonly #name: Buffer
  /** By commit, and by the tree that was read for several. */
  readonly #entries = new Map<number, Promise<string | undefined>>()
  readonly #known = new Map<Oid, Promise<string | undefined>>()
  /** What the filters said. */
  readonly #changes: Uint8Array

  constructor(repo: Repository, dag: Dag, path: string, budget: { left: number }) {
    const slash = path.lastIndexOf('/')
    this.path = path
    this.budget = budget
    this.#changes = new Uint8Array(dag.size)
    this.#repo = repo
    this.#dag = dag
    this.#hashes = changedPathsOf(path)
    this.#directory = pathToBytes(slash < 0 ? '' : path.slice(0, slash))
    this.#name = pathToBytes(path.slice(slash + 1))
  }

  /** False only when the commit surely left the path as it is in its first parent. */
  maybeChanged(node: number): boolean {
    if (!this.#hashes) return true
    const asked = this.#changes[node]!
    if (asked !== 0) return asked === changed
    const maybe = this.#dag.maybeChanged(node, this.#hashes)
    this.#changes[node] = maybe ? changed : unchanged
    return maybe
  }

  /** Asks all filters at once, where most of them will be asked. */
  askFilters(): void {
    if (this.#hashes && this.#dag.size <= mostAsked) this.#dag.markUnchanged(this.#hashes, this.#changes)
  }

  async isSame(one: number, other: number): Promise<boolean> {
    const [left, right] = await Promise.all([this.entry(one), this.entry(other)])
    return left === right
  }

  /** Whether `entry` is there, or under way. */
  isKnown(node: number): boolean {
    return this.#entries.has(node) || this.#known.has(this.#treeOf(node))
  }

  /** Asks for commits and their first parents, which will be wanted soon. At most for half of what may still be read. */
  readAhead(nodes: readonly number[]): void {
    const least = this.budget.left >> 1
    for (const node of nodes) {
      // Who wants it is told if it cannot be read.
      for (const each of [node, this.#dag.firstParent(node)])
        if (each >= 0 && this.budget.left > least) this.entry(each).catch(() => {})
    }
  }

  /** Mode and id of what is at the path; `undefined` when nothing is. */
  entry(node: number): Promise<string | undefined> {
    const known = this.#entries.get(node)
    if (known) return known
    const tree = this.#treeOf(node)
    const reading = this.#known.get(tree) ?? this.#start(tree)
    this.#entries.set(node, reading)
    return reading
  }

  #start(tree: Oid): Promise<string | undefined> {
    this.#dag.gone?.throwIfAborted()
    if (--this.budget.left < 0) throw new LeaveToGit('too much to read')
    const reading = this.#read(tree)
    this.#known.set(tree, reading)
    return reading
  }

  /**
   * Of the oldest commit along first parents up to which the path surely was the same: the one that will be asked for
   * next is read once.
   */
  #treeOf(from: number): Oid {
    let node = from
    for (let steps = 0; steps < maxStepsBack && !this.maybeChanged(node); steps++) {
      const parent = this.#dag.firstParent(node)
      if (parent < 0) break
      node = parent
    }
    return this.#dag.tree(node)
  }

  async #read(tree: Oid): Promise<string | undefined> {
    const spec = Buffer.concat([Buffer.from(`${tree}:`), this.#directory])
    const found = await objectContent(await this.#repo.objects(), spec, maxTreeBytes)
    return found?.type === 'tree' && found.content ? entryOf(found.content, this.#name, 20) : undefined
  }
}

/** Finds a name among `<mode> <name>\0<binary id>`. */
function entryOf(tree: Buffer, name: Buffer, idBytes: number): string | undefined {
  for (let at = 0; at < tree.length; ) {
    const space = tree.indexOf(0x20, at)
    const nul = tree.indexOf(0, space)
    if (space < 0 || nul < 0) return undefined
    const end = nul + 1 + idBytes
    if (nul - space - 1 === name.length && name.compare(tree, space + 1, nul) === 0)
      return `${comparedMode(tree.toString('latin1', at, space))} ${tree.toString('hex', nul + 1, end)}`
    at = end
  }
  return undefined
}

/** Old histories hold other modes than git compares. */
function comparedMode(mode: string): string {
  if (!mode.startsWith('100')) return mode.replace(/^0/, '')
  return (Number.parseInt(mode, 8) & 0o100) === 0 ? '100644' : '100755'
}
