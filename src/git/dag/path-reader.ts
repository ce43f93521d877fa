import { objectContent } from '../cat-file.ts'
import type { Oid } from '../oid.ts'
import { pathToBytes } from '../path-bytes.ts'
import type { Repository } from '../repository.ts'
import { maxTreeBytes } from '../trees.ts'
import { type ChangedPaths, changedPathsOf } from './changed-paths.ts'
import { type Dag, LeaveToGit } from './dag.ts'

/**
 * Directories that are read for one question. Git has them at hand, but compares all of them when it follows a file.
 */
export const maxReads = { simplified: 500, following: 2500 }

/** Commits that are read ahead at most. */
const maxAhead = 32
const maxStepsAhead = 10_000
const maxStepsBack = 1000

const [unchanged, changed] = [1, 2]

/**
 * How a path is in the commits of a history. Reads ahead along first parents, at first as many changes as are `wanted`:
 * what is asked at once takes one round trip.
 */
export class PathReader {
  readonly path: string
  /** What may still be read. */
  readonly budget: { left: number }
  readonly #repo: Repository
  readonly #dag: Dag
  readonly #hashes: ChangedPaths | undefined
  readonly #directory: Buffer
  readonly #name: Buffer
  readonly #known = new Map<Oid, Promise<string | undefined>>()
  /** What the filters said. */
  readonly #changes: Uint8Array
  #ahead: number

  constructor(repo: Repository, dag: Dag, path: string, wanted: number, budget: { left: number }) {
    const slash = path.lastIndexOf('/')
    this.path = path
    this.budget = budget
    this.#changes = new Uint8Array(dag.size)
    this.#ahead = Math.min(wanted, maxAhead)
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

  async isSame(one: number, other: number): Promise<boolean> {
    if (this.#dag.tree(one) === this.#dag.tree(other)) return true
    if (!this.#known.has(this.#dag.tree(this.#unchanged(one)))) this.#readAhead(one)
    const [left, right] = await Promise.all([this.entry(one), this.entry(other)])
    return left === right
  }

  #readAhead(from: number): void {
    let left = this.#hashes ? Math.min(this.#ahead, this.budget.left >> 2) : 0
    this.#ahead = Math.min(2 * this.#ahead, maxAhead)
    for (let node = from, steps = 0; left > 0 && steps < maxStepsAhead; steps++) {
      if (this.maybeChanged(node)) {
        // Who asks for it is told if it cannot be read.
        this.entry(node).catch(() => {})
        left--
      }
      const [parent] = this.#dag.parents(node)
      if (parent === undefined) return
      node = parent
    }
  }

  /** Mode and id of what is at the path; `undefined` when nothing is. */
  entry(node: number): Promise<string | undefined> {
    const tree = this.#dag.tree(this.#unchanged(node))
    const known = this.#known.get(tree)
    if (known) return known
    if (--this.budget.left < 0) throw new LeaveToGit('too much to read')
    const reading = this.#read(tree)
    this.#known.set(tree, reading)
    return reading
  }

  /**
   * Along first parents, as far as the path surely was the same: the commit that will be asked for next is read once.
   */
  #unchanged(from: number): number {
    let node = from
    for (let steps = 0; steps < maxStepsBack && !this.maybeChanged(node); steps++) {
      const [parent] = this.#dag.parents(node)
      if (parent === undefined) return node
      node = parent
    }
    return node
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
