import { type Oid, oidBytes } from '../format/oid.ts'
import { readObject } from '../objects/read-object.ts'
import { canonicalMode, maxTreeBytes } from '../objects/trees.ts'
import type { Repository } from '../repository/repository.ts'
import { LeaveToGit } from './dag.ts'
import type { WantedName, WantedPaths } from './wanted-paths.ts'

/** Trees read at a time, and bytes of them kept for the next pair, which bounds memory. */
const [readAtOnce, maxKeptBytes] = [20, 16 * 1024 * 1024]

type Pair = { readonly name: WantedName; readonly one: Oid | undefined; readonly other: Oid | undefined }

/** Compares paths in pairs of trees. Keeps what the last pair read, since the next is likely to have it, too. */
export class TreePairs {
  readonly #repo: Repository
  #last = new Map<Oid, Buffer>()
  #read = new Map<Oid, Buffer>()
  #readBytes = 0

  constructor(repo: Repository) {
    this.#repo = repo
  }

  /** The paths whose entries differ, each once. Reads only directories that differ. Throws `LeaveToGit` if one cannot be read. */
  async changed(one: Oid, other: Oid | undefined, wanted: WantedPaths): Promise<string[]> {
    const changed: string[] = []
    this.#last = this.#read
    this.#read = new Map()
    this.#readBytes = 0
    let pairs: Pair[] = one === other ? [] : [{ name: wanted.root, one, other }]
    while (pairs.length > 0) {
      const below: Pair[] = []
      for (let at = 0; at < pairs.length; at += readAtOnce)
        await Promise.all(pairs.slice(at, at + readAtOnce).map((pair) => this.#compare(pair, changed, below)))
      pairs = below
    }
    return changed
  }

  async #compare({ name, one, other }: Pair, changed: string[], below: Pair[]): Promise<void> {
    const [left, right] = await Promise.all([this.#contentOf(one), this.#contentOf(other)])
    const { from, ends } = differingPart(left, right)
    const was = entriesIn(left.subarray(from, left.length - ends), name)
    const is = entriesIn(right.subarray(from, right.length - ends), name)
    for (const key of new Set([...was.keys(), ...is.keys()])) {
      const next = name.below.get(key)!
      if (was.get(key) === is.get(key)) continue
      if (next.isWanted) changed.push(next.path)
      const trees = { one: treeOf(was.get(key)), other: treeOf(is.get(key)) }
      if (next.below.size > 0 && trees.one !== trees.other) below.push({ name: next, ...trees })
    }
  }

  #keep(tree: Oid, content: Buffer): void {
    if (this.#read.has(tree) || this.#readBytes + content.length > maxKeptBytes) return
    this.#read.set(tree, content)
    this.#readBytes += content.length
  }

  async #contentOf(tree: Oid | undefined): Promise<Buffer> {
    if (tree === undefined) return nothing
    const known = this.#read.get(tree) ?? this.#last.get(tree)
    const content = known ?? (await readObject(this.#repo, tree, maxTreeBytes, 'tree'))?.content
    if (!content) throw new LeaveToGit(`the tree ${tree} is missing`)
    this.#keep(tree, content)
    return content
  }
}

const nothing = Buffer.alloc(0)

/** The offset up to which two trees have the same entries, and the bytes of the last entries that they share. */
function differingPart(one: Buffer, other: Buffer): { from: number; ends: number } {
  const shorter = Math.min(one.length, other.length)
  const equal = longest(shorter, (bytes) => one.compare(other, 0, bytes, 0, bytes) === 0)
  let from = 0
  for (let end = endOfEntry(one, 0); end <= equal; end = endOfEntry(one, from)) from = end
  const atEnd = longest(
    shorter - from,
    (bytes) => one.compare(other, other.length - bytes, other.length, one.length - bytes, one.length) === 0,
  )
  // Entries end at the same distance from the end of both once they have done so within what is equal.
  let [left, right] = [from, from]
  while (left < one.length || right < other.length) {
    const [leftover, rightover] = [one.length - left, other.length - right]
    if (leftover === rightover && leftover <= atEnd) break
    if (leftover >= rightover) left = endOfEntry(one, left)
    else right = endOfEntry(other, right)
  }
  return { from, ends: one.length - left }
}

/** The greatest number up to `most` for which `holds` is true, if it is for all smaller ones. */
function longest(most: number, holds: (bytes: number) => boolean): number {
  let [low, high] = [0, most]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (holds(middle)) low = middle
    else high = middle - 1
  }
  return low
}

/** Beyond the end of the tree if there is none. */
function endOfEntry(tree: Buffer, at: number): number {
  const nul = tree.indexOf(0, at)
  return nul < 0 ? tree.length + 1 : nul + 1 + oidBytes
}

/** Mode and id of the wanted names among entries. */
function entriesIn(entries: Buffer, { below }: WantedName): Map<string, string> {
  const found = new Map<string, string>()
  for (let at = 0; at < entries.length && found.size < below.size; ) {
    const space = entries.indexOf(0x20, at)
    const end = endOfEntry(entries, at)
    if (space < 0 || end > entries.length) throw new LeaveToGit('a tree is malformed')
    const key = entries.toString('latin1', space + 1, end - oidBytes - 1)
    if (below.has(key))
      found.set(
        key,
        `${canonicalMode(entries.toString('latin1', at, space))} ${entries.toString('hex', end - oidBytes, end)}`,
      )
    at = end
  }
  return found
}

const treeOf = (entry: string | undefined): Oid | undefined =>
  entry?.startsWith('040000 ') ? (entry.slice('040000 '.length) as Oid) : undefined
