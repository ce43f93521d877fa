import { type Oid, oidBytes } from '../format/oid.ts'
import { pathFromBytes } from '../format/path-bytes.ts'
import { getCached, setCached } from '../repository/memoize.ts'
import type { Repository } from '../repository/repository.ts'
import type { Helper } from '../runner/helper.ts'
import { type ObjectContent, objectContent } from './cat-file.ts'
import { canonicalMode, MalformedTree, maxTreeBytes, type TreeEntry } from './trees.ts'

/**
 * A tree object whose entries are decoded only when they are asked for, which matters where thousands are counted and a hundred
 * are shown. Entries are numbered in git's order.
 */
export class RawTree {
  readonly content: Buffer
  /** Offset of each entry, and the end of the last one. */
  readonly #starts: Uint32Array

  /** Throws `MalformedTree` if the content is no sequence of entries. */
  constructor(content: Buffer) {
    const starts: number[] = [0]
    for (let at = 0; at < content.length; starts.push(at)) {
      const nul = content.indexOf(0, at)
      if (nul < 0 || nul + 1 + oidBytes > content.length || spaceIn(content, at) > nul)
        throw new MalformedTree('a tree object is malformed')
      at = nul + 1 + oidBytes
    }
    this.content = content
    this.#starts = Uint32Array.from(starts)
  }

  get length(): number {
    return this.#starts.length - 1
  }

  /** Approximate size in memory. */
  get sizeBytes(): number {
    return this.content.length + this.#starts.byteLength + 200
  }

  /** `commit` is a submodule. */
  type(index: number): TreeEntry['type'] {
    let at = this.#starts[index]!
    while (this.content[at] === zero) at++
    // `40000` and `160000`; every other mode is that of a blob.
    if (this.content[at] === four) return 'tree'
    return this.content[at] === one && this.content[at + 1] === six ? 'commit' : 'blob'
  }

  /** Six octal digits. */
  mode(index: number): string {
    return canonicalMode(this.storedMode(index))
  }

  /** As it is stored: other than six digits, and others than git writes, in old or malformed trees. */
  storedMode(index: number): string {
    const start = this.#starts[index]!
    return this.content.toString('latin1', start, spaceIn(this.content, start))
  }

  name(index: number): string {
    const start = spaceIn(this.content, this.#starts[index]!) + 1
    return pathFromBytes(this.content.subarray(start, this.idAt(index) - 1))
  }

  /** Whether an entry has this name, in bytes; its name is not decoded. */
  isNamed(index: number, name: Buffer): boolean {
    const [start, end] = [spaceIn(this.content, this.#starts[index]!) + 1, this.idAt(index) - 1]
    return end - start === name.length && this.content.compare(name, 0, name.length, start, end) === 0
  }

  oid(index: number): Oid {
    return this.content.toString('hex', this.idAt(index), this.#starts[index + 1]!) as Oid
  }

  /** Offset of the binary object id of an entry. */
  idAt(index: number): number {
    return this.#starts[index + 1]! - oidBytes
  }
}

const [zero, one, four, six, space] = [0x30, 0x31, 0x34, 0x36, 0x20]

/** Modes are short, so a loop is faster than `indexOf`. */
function spaceIn(content: Buffer, at: number): number {
  while (at < content.length && content[at] !== space) at++
  return at
}

/**
 * Reads a tree by its own id: with `readFile`, else with the shared `cat-file` of the repository (`repo.objects()`), in one round trip; then cached.
 * `undefined` if the repository has no such tree. Callers read hundreds at once, so concurrent calls do not share the work, which
 * would cost more.
 */
export async function readRawTree(
  repo: Repository,
  objects: Helper,
  oid: Oid,
  readFile: (oid: Oid) => Promise<ObjectContent | undefined>,
): Promise<RawTree | undefined> {
  const key = `raw-tree ${oid}`
  const known = getCached<RawTree>(repo, key)
  if (known) return known
  const found = (await readFile(oid)) ?? (await objectContent(objects, oid, maxTreeBytes))
  if (found?.type !== 'tree' || !found.content) return undefined
  const tree = new RawTree(found.content)
  setCached(repo, key, tree, tree.sizeBytes)
  return tree
}
