import { Failure } from '../kernel/failure.ts'
import { changesBetweenTrees, type FileChange } from './changes.ts'
import type { Oid } from './oid.ts'
import { remember } from './remember.ts'
import type { Repository } from './repository.ts'
import { decodeText, shownPath } from './text.ts'

export type FilePatch = {
  /** A file that became another kind of thing is here twice: deleted, and added. */
  readonly change: FileChange
  /** Hunks only, from the first `@@`; one line for binary files; empty without a textual change, or when it is too large. */
  readonly text: string
  readonly tooLarge: boolean
}

export type PatchLimits = {
  /** Files after this many, or after so many lines or bytes of text, are left out. */
  readonly files: number
  readonly lines: number
  readonly bytes: number
  /** The text of a file with more than this is left empty. */
  readonly fileBytes: number
}

export type Patches = {
  readonly files: readonly FilePatch[]
  /** Some files were left out. */
  readonly overflow: boolean
}

/** Git is stopped after writing this much, however little of it is kept. */
const maxReadBytes = 512 * 1024 * 1024

/** More than this is handed out, not kept: a few would push out all the commits and trees. */
const rememberedBytes = 8 * 1024 * 1024

/**
 * The textual difference of two trees, in git's order of new paths. One `diff-tree` process beside what
 * `changesBetweenTrees` costs, remembered unless it is large. Memory is bounded by the limits.
 */
export async function patchesBetweenTrees(repo: Repository, from: Oid, to: Oid, limits: PatchLimits): Promise<Patches> {
  const key = `patches ${from} ${to} ${Object.values(limits).join(' ')}`
  const known = repo.git.cache.get(repo.cacheKey + key)
  if (known) return known as Patches
  const patches = from === to ? { files: [], overflow: false } : await read(repo, from, to, limits)
  return sizeOf(patches) > rememberedBytes ? patches : remember(repo, key, async () => patches, sizeOf)
}

const sizeOf = ({ files }: Patches): number => files.reduce((size, { text }) => size + 500 + 2 * text.length, 0)

async function read(repo: Repository, from: Oid, to: Oid, limits: PatchLimits): Promise<Patches> {
  // Both processes compare the same files: side by side they take little more time than one.
  const changes = changesBetweenTrees(repo, from, to)
  changes.catch(() => {})
  const child = await repo.start('diff-tree', {
    flags: ['-r', '-p', '-M', '-U3', '--no-color', '--no-ext-diff', '--no-textconv'],
    args: [from, to],
  })
  const { files } = await changes.catch((error: Error) => {
    child.kill('SIGKILL')
    throw error
  })
  const reader = new PatchReader(files.flatMap(inParts), limits)
  let size = 0
  for await (const chunk of child as AsyncIterable<Buffer>) {
    size += chunk.length
    if (!reader.push(chunk) || size > maxReadBytes) {
      child.kill('SIGKILL')
      return reader.finish(true)
    }
  }
  const { code, timedOut } = await child.done
  if (timedOut || code !== 0) throw new Failure('unavailable', 'The difference cannot be read')
  return reader.finish(false)
}

const fileStart = Buffer.from('diff --git ')
const hunkStart = Buffer.from('@@ ')
const binaryStart = Buffer.from('Binary files ')
const newline = 0x0a

/** Takes git's patch apart. Lines of content never begin at the margin, so a line that begins like a header is one. */
class PatchReader {
  readonly #changes: readonly FileChange[]
  readonly #limits: PatchLimits
  #files: FilePatch[] = []
  #opened = 0
  #text: Buffer[] = []
  #textBytes = 0
  #textLines = 0
  #inHunks = false
  #binary = false
  /** The beginning of a line whose end has not arrived. */
  #rest: Buffer = Buffer.alloc(0)
  /** That beginning was too long to be kept, and was thrown away. */
  #cut = false
  #lines = 0
  #bytes = 0

  constructor(changes: readonly FileChange[], limits: PatchLimits) {
    this.#changes = changes
    this.#limits = limits
  }

  /** False when a limit is reached, and nothing more is wanted. */
  push(chunk: Buffer): boolean {
    let at = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, at)) {
      const piece = chunk.subarray(at, end + 1)
      const line = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece])
      this.#rest = Buffer.alloc(0)
      at = end + 1
      if (this.#cut) this.#cut = false
      else if (!this.#take(line)) return false
    }
    if (at < chunk.length && !this.#cut) this.#rest = Buffer.concat([this.#rest, chunk.subarray(at)])
    if (this.#inHunks && this.#rest.length > this.#limits.fileBytes) {
      this.#textBytes += this.#rest.length
      this.#rest = Buffer.alloc(0)
      this.#cut = true
    }
    return true
  }

  finish(overflow: boolean): Patches {
    const whole = overflow || this.#close()
    return { files: this.#files, overflow: overflow || !whole }
  }

  #take(line: Buffer): boolean {
    if (startsWith(line, fileStart)) {
      if (!this.#close() || this.#opened >= this.#limits.files) return false
      this.#opened++
      return true
    }
    if (!this.#inHunks && startsWith(line, binaryStart)) this.#binary = true
    if (startsWith(line, hunkStart)) this.#inHunks = true
    if (!this.#inHunks) return true
    this.#textBytes += line.length
    this.#textLines++
    // Kept beyond this chunk, which is larger.
    if (this.#textBytes <= this.#limits.fileBytes) this.#text.push(Buffer.from(line))
    return true
  }

  /** Ends the file under way. False when it does not fit any more. */
  #close(): boolean {
    const change = this.#changes[this.#opened - 1]
    if (!change) return this.#opened === 0
    const tooLarge = this.#textBytes > this.#limits.fileBytes
    const text = this.#binary ? binaryLine(change) : tooLarge ? '' : decodeText(Buffer.concat(this.#text))
    if (!tooLarge) {
      this.#lines += this.#textLines
      this.#bytes += this.#textBytes
    }
    if (this.#lines > this.#limits.lines || this.#bytes > this.#limits.bytes) return false
    this.#files.push({ change, text, tooLarge })
    this.#text = []
    this.#textBytes = 0
    this.#textLines = 0
    this.#inHunks = false
    this.#binary = false
    return true
  }
}

const startsWith = (line: Buffer, start: Buffer) =>
  line.length >= start.length && line.compare(start, 0, start.length, 0, start.length) === 0

const binaryLine = ({ status, oldPath, newPath }: FileChange): string => {
  const old = status === 'added' ? '/dev/null' : `a/${shownPath(oldPath)}`
  const now = status === 'deleted' ? '/dev/null' : `b/${shownPath(newPath)}`
  return `Binary files ${old} and ${now} differ\n`
}

/** As git writes patches: what changed its kind goes and comes. */
const inParts = (change: FileChange): FileChange[] =>
  change.status !== 'type_changed'
    ? [change]
    : [
        { ...change, status: 'deleted', newMode: '000000', newOid: undefined },
        { ...change, status: 'added', oldMode: '000000', oldOid: undefined },
      ]
