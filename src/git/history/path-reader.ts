import { type ChangedPaths, changedPathsOf } from '../commit-graph/changed-paths.ts'
import { type Oid, oidBytes } from '../format/oid.ts'
import { pathToBytes } from '../format/path-bytes.ts'
import { type ObjectContent, objectContent } from '../objects/cat-file.ts'
import { readObject } from '../objects/read-object.ts'
import { canonicalMode, maxTreeBytes } from '../objects/trees.ts'
import type { Repository } from '../repository/repository.ts'
import { type Dag, LeaveToGit } from './dag.ts'

/** Maximum directories read per request. Git reads them faster, but compares whole trees when it follows a file. */
export const maxReads = { simplified: 500, following: 2500 }

/** Maximum commits to read ahead. */
export const maxAhead = 64

const maxStepsBack = 1000

/** Maximum commits for evaluating all filters at once, which blocks the event loop. */
const maxAtOnce = 500_000

const [unchanged, changed] = [1, 2]

/** Reads a path in the commits of a history. Concurrent reads share one round trip. */
export class PathReader {
  readonly path: string
  /** Reads left. */
  readonly budget: { left: number }
  readonly #repo: Repository
  readonly #dag: Dag
  readonly #hashes: ChangedPaths | undefined
  readonly #directory: Buffer
  readonly #name: Buffer
  /** By commit, and by tree, which several commits share. */
  readonly #entries = new Map<number, Promise<string | undefined>>()
  readonly #known = new Map<Oid, Promise<string | undefined>>()
  /** Results of the filters, by node. */
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

  /** False only if the path is certainly the same as in the first parent. */
  maybeChanged(node: number): boolean {
    if (!this.#hashes) return true
    const asked = this.#changes[node]!
    if (asked !== 0) return asked === changed
    const maybe = this.#dag.maybeChanged(node, this.#hashes)
    this.#changes[node] = maybe ? changed : unchanged
    return maybe
  }

  /** Evaluates the filters of all commits at once, which is faster if most of them are needed. */
  askFilters(): void {
    if (this.#hashes && this.#dag.size <= maxAtOnce) this.#dag.markUnchanged(this.#hashes, this.#changes)
  }

  async isSame(one: number, other: number): Promise<boolean> {
    const [left, right] = await Promise.all([this.entry(one), this.entry(other)])
    return left === right
  }

  /** Whether `entry` has been read or is being read. */
  isKnown(node: number): boolean {
    return this.#entries.has(node) || this.#known.has(this.#treeOf(node))
  }

  /**
   * Starts reading commits and their first parents, which are needed soon. Begins at most half of the remaining reads, of which each that finds
   * no directory takes one more for each part of the path.
   */
  readAhead(nodes: readonly number[]): void {
    const least = this.budget.left >> 1
    for (const node of nodes) {
      // A failure reaches the later caller of `entry`.
      for (const each of [node, this.#dag.firstParent(node)])
        if (each >= 0 && this.budget.left > least) this.entry(each).catch(() => {})
    }
  }

  /** Mode and id of the entry at the path; `undefined` if there is none. */
  entry(node: number): Promise<string | undefined> {
    const known = this.#entries.get(node)
    if (known) return known
    const tree = this.#treeOf(node)
    const reading = this.#known.get(tree) ?? this.#start(tree)
    this.#entries.set(node, reading)
    return reading
  }

  #start(tree: Oid): Promise<string | undefined> {
    this.#dag.signal?.throwIfAborted()
    this.#spend()
    const reading = this.#read(tree)
    this.#known.set(tree, reading)
    return reading
  }

  /** Counts a read before it. */
  #spend(): void {
    if (--this.budget.left < 0) throw new LeaveToGit('too much to read')
  }

  /**
   * The tree of the oldest commit along first parents up to which the path is certainly the same, so that commits with the same
   * entry share one read.
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
    if (!found) return this.#requireAbsent(tree)
    if (found.type !== 'tree') return undefined
    return entryOf(contentOf(found), this.#name)
  }

  /** Throws if a directory on the way to the path is lost: the history would have a removal that never was. */
  async #requireAbsent(root: Oid): Promise<undefined> {
    let tree = root
    for (const name of pathParts(this.#directory)) {
      this.#spend()
      const entry = entryOf(contentOf(await readObject(this.#repo, tree, maxTreeBytes, 'tree')), name)
      if (!entry?.startsWith('040000 ')) return undefined
      tree = entry.slice('040000 '.length) as Oid
    }
    throw new LeaveToGit(`the tree ${tree} is missing`)
  }
}

function contentOf(tree: ObjectContent | undefined): Buffer {
  if (!tree?.content) throw new LeaveToGit('a tree is missing or very large')
  return tree.content
}

/** The names of a directory's path, from the root; none for the root. */
function pathParts(directory: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let at = 0; at < directory.length; ) {
    const slash = directory.indexOf(0x2f, at)
    const end = slash < 0 ? directory.length : slash
    parts.push(directory.subarray(at, end))
    at = end + 1
  }
  return parts
}

/** Finds a name among entries of the form `<mode> <name>\0<binary id>`. */
function entryOf(tree: Buffer, name: Buffer): string | undefined {
  for (let at = 0; at < tree.length; ) {
    const space = tree.indexOf(0x20, at)
    const nul = tree.indexOf(0, space)
    const end = nul + 1 + oidBytes
    if (space < 0 || nul < 0 || end > tree.length) throw new LeaveToGit('a tree is malformed')
    if (nul - space - 1 === name.length && name.compare(tree, space + 1, nul) === 0)
      return `${canonicalMode(tree.toString('latin1', at, space))} ${tree.toString('hex', nul + 1, end)}`
    at = end
  }
  return undefined
}
