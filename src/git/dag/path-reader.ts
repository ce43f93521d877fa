import { objectContent } from '../cat-file.ts'
import type { Oid } from '../oid.ts'
import { pathToBytes } from '../path-bytes.ts'
import type { Repository } from '../repository.ts'
import { maxTreeBytes } from '../trees.ts'
import { type ChangedPaths, changedPathsOf } from './changed-paths.ts'
import { type Dag, LeaveToGit } from './dag.ts'

/** Directories that are read for one question: each is a round trip, and git has them at hand. */
export const maxReads = 600

/** How a path is in the commits of a history. */
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

  constructor(repo: Repository, dag: Dag, path: string, budget = { left: maxReads }) {
    const slash = path.lastIndexOf('/')
    this.path = path
    this.budget = budget
    this.#repo = repo
    this.#dag = dag
    this.#hashes = changedPathsOf(path)
    this.#directory = pathToBytes(slash < 0 ? '' : path.slice(0, slash))
    this.#name = pathToBytes(path.slice(slash + 1))
  }

  /** False only when the commit surely left the path as it is in its first parent. */
  maybeChanged = (node: number): boolean => this.#hashes === undefined || this.#dag.maybeChanged(node, this.#hashes)

  async isSame(one: number, other: number): Promise<boolean> {
    if (this.#dag.tree(one) === this.#dag.tree(other)) return true
    const [left, right] = await Promise.all([this.entry(one), this.entry(other)])
    return left === right
  }

  /** Mode and id of what is at the path; `undefined` when nothing is. */
  entry(node: number): Promise<string | undefined> {
    const tree = this.#dag.tree(node)
    const known = this.#known.get(tree)
    if (known) return known
    if (--this.budget.left < 0) throw new LeaveToGit('too much to read')
    const reading = this.#read(tree)
    this.#known.set(tree, reading)
    return reading
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
