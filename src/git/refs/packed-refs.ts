import { type Oid, oidLength } from '../format/oid.ts'
import { isRefName, type RefName } from '../format/ref-name.ts'

export type RefFile = { readonly name: RefName; readonly oid: Oid }

const [newline, caret, hash, space] = Buffer.from('\n^# ')
/** Where the name begins in a line. */
const nameAt = oidLength + 1
/** Estimated memory of a listed ref. */
const bytesPerRef = 160

/**
 * The refs of a file `packed-refs`. The file itself is kept, with the places of its lines: there may be a hundred thousand, of which a request
 * looks up one. Source: git, "packed-refs" in gitrepository-layout.
 */
export class PackedRefs {
  static readonly none: PackedRefs = new PackedRefs(Buffer.alloc(0), new Uint32Array())

  readonly #file: Buffer
  /** Where the line of each ref begins, in the order of the bytes of their names. */
  readonly #lines: Uint32Array
  readonly #lists = new Map<string, readonly RefFile[]>()
  #folders: ReadonlySet<string> | undefined

  private constructor(file: Buffer, lines: Uint32Array) {
    this.#file = file
    this.#lines = lines
  }

  /**
   * Reads lines of `<oid> <name>`. Skips lines with `^`, the target of the preceding tag, and with `#`, file headers. `undefined` if git rejects
   * the file: there is another line, or a name twice, or the last line has no end.
   */
  static parse(file: Buffer): PackedRefs | undefined {
    const found: number[] = []
    let isSorted = true
    for (let start = 0; start < file.length; ) {
      const end = file.indexOf(newline!, start)
      if (end < 0) return undefined
      if (file[start] !== caret && file[start] !== hash) {
        if (end < start + nameAt || file[start + oidLength] !== space || !hasOid(file, start)) return undefined
        if (found.length > 0) isSorted &&= compareLines(file, found.at(-1)!, start) < 0
        found.push(start)
      }
      start = end + 1
    }
    if (!isSorted) {
      found.sort((one, other) => compareLines(file, one, other))
      if (found.some((start, index) => index > 0 && compareLines(file, found[index - 1]!, start) === 0))
        return undefined
    }
    return new PackedRefs(file, Uint32Array.from(found))
  }

  /** Estimated memory with all lists. */
  get bytes(): number {
    return this.#file.length + this.#lines.length * (this.#lines.BYTES_PER_ELEMENT + bytesPerRef)
  }

  get(name: string): Oid | undefined {
    const wanted = Buffer.from(name)
    const index = this.#firstFrom(wanted)
    return index < this.#lines.length && this.#name(index).equals(wanted) ? this.#oid(index) : undefined
  }

  /** The refs below a folder, `refs/heads`, in the order of the bytes of their names. Computed once. */
  below(folder: string): readonly RefFile[] {
    const known = this.#lists.get(folder)
    if (known) return known
    const list: RefFile[] = []
    const end = this.#endOf(folder)
    for (let index = this.#firstFrom(Buffer.from(`${folder}/`)); index < end; index++) {
      const name = this.#name(index).toString()
      if (isRefName(name)) list.push({ name: name as RefName, oid: this.#oid(index) })
    }
    this.#lists.set(folder, list)
    return list
  }

  /** The first two parts of the names, `refs/heads` and the like. Computed once. */
  get folders(): ReadonlySet<string> {
    if (this.#folders) return this.#folders
    const folders = new Set<string>()
    for (let index = 0; index < this.#lines.length; ) {
      const name = this.#name(index).toString()
      const folder = name.split('/', 2).join('/')
      folders.add(folder)
      index = name.length > folder.length ? Math.max(this.#endOf(folder), index + 1) : index + 1
    }
    this.#folders = folders
    return folders
  }

  /** The index after the last ref below a folder. */
  #endOf(folder: string): number {
    // The character after `/`.
    return this.#firstFrom(Buffer.from(`${folder}0`))
  }

  /** The index of the first ref whose name is this one or after it. */
  #firstFrom(name: Buffer): number {
    let low = 0
    let high = this.#lines.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#name(middle).compare(name) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #name(index: number): Buffer {
    const start = this.#lines[index]! + nameAt
    return this.#file.subarray(start, this.#file.indexOf(newline!, start))
  }

  #oid(index: number): Oid {
    const start = this.#lines[index]!
    return this.#file.toString('latin1', start, start + oidLength) as Oid
  }
}

/** Whether an object id is there. */
function hasOid(file: Buffer, start: number): boolean {
  let isNull = true
  for (let at = start; at < start + oidLength; at++) {
    const digit = file[at]!
    const isDigit = digit >= 0x30 && digit <= 0x39
    if (!isDigit && !(digit >= 0x61 && digit <= 0x66)) return false
    isNull &&= digit === 0x30
  }
  return !isNull
}

/** Compares the names of two lines by their bytes. */
function compareLines(file: Buffer, one: number, other: number): number {
  for (let at = nameAt; ; at++) {
    const left = file[one + at]!
    const right = file[other + at]!
    const isLeftEnd = left === newline
    const isRightEnd = right === newline
    if (isLeftEnd || isRightEnd) return Number(isRightEnd) - Number(isLeftEnd)
    if (left !== right) return left - right
  }
}
