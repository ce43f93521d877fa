import { availableParallelism } from 'node:os'
import { Failure } from '../../kernel/failure.ts'
import type { Oid } from '../format/oid.ts'
import { decodeText, shownPath } from '../format/text.ts'
import { remember } from '../repository/remember.ts'
import type { Repository } from '../repository/repository.ts'
import { Inbox } from '../runner/inbox.ts'
import { type ChangedFile, changedFiles, takeChangedFile } from './changes.ts'
import { partsOf } from './path-parts.ts'

export type FilePatch = {
  /** A file whose type changed appears twice: deleted, then added. */
  readonly change: ChangedFile
  /** Hunks only, from the first `@@`; one line for binary files; empty without a textual change, or if too large. */
  readonly text: string
  readonly tooLarge: boolean
}

export type PatchLimits = {
  /** Maximum files, lines and bytes of text; files beyond any of them are omitted. */
  readonly files: number
  readonly lines: number
  readonly bytes: number
  /** Maximum bytes of one file; the text of a larger patch is empty. */
  readonly fileBytes: number
}

export type Patches = {
  readonly files: readonly FilePatch[]
  /** Files were omitted. */
  readonly overflow: boolean
}

/** Maximum output to read; git is stopped beyond it. */
const maxReadBytes = 512 * 1024 * 1024

/** Maximum processes that share one difference. */
const maxParts = Math.min(4, availableParallelism())

/** Larger results are not cached: a few would evict all commits and trees. */
const rememberedBytes = 8 * 1024 * 1024

/**
 * The textual difference of two trees, in git's order of new paths. One `diff-tree` process; cached unless large. The limits
 * bound memory. `wide` splits a possibly large difference among several processes.
 */
export async function patchesBetweenTrees(
  repo: Repository,
  from: Oid,
  to: Oid,
  limits: PatchLimits,
  { wide = false } = {},
): Promise<Patches> {
  const key = `patches ${from} ${to} ${Object.values(limits).join(' ')}`
  if (from === to) return { files: [], overflow: false }
  return remember(
    repo,
    key,
    (repo) => (wide ? readInParts : read)(repo, from, to, limits),
    (patches) => {
      const size = sizeOf(patches)
      return size > rememberedBytes ? undefined : size
    },
  )
}

const sizeOf = ({ files }: Patches): number => files.reduce((size, { text }) => size + 500 + 2 * text.length, 0)

/**
 * Each part gets an equal share of the limits. If a part exceeds its share, one process reads everything, to apply the limits
 * exactly.
 */
async function readInParts(repo: Repository, from: Oid, to: Oid, limits: PatchLimits): Promise<Patches> {
  const { files, truncated } = await changedFiles(repo, from, to)
  const parts = truncated ? [] : partsOf(files, maxParts)
  if (parts.length < 2) return read(repo, from, to, limits)
  const share = (most: number) => Math.floor(most / parts.length)
  const shares = { ...limits, files: share(limits.files), lines: share(limits.lines), bytes: share(limits.bytes) }
  const found = await Promise.all(parts.map((paths) => read(repo, from, to, shares, paths)))
  if (found.some(({ overflow }) => overflow)) return read(repo, from, to, limits)
  return { files: found.flatMap(({ files }) => files), overflow: false }
}

/** `paths` restricts the difference to these paths, among which there are no renames. */
async function read(
  repo: Repository,
  from: Oid,
  to: Oid,
  limits: PatchLimits,
  paths?: readonly string[],
): Promise<Patches> {
  const renames = paths ? '--no-renames' : '-M'
  const child = await repo.start('diff-tree', {
    flags: ['-r', '--raw', '-z', '-p', renames, '-U3', '--no-color', '--no-ext-diff', '--no-textconv'],
    args: [from, to],
    ...(paths && { paths }),
  })
  const reader = new PatchReader(limits)
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
const colon = 0x3a
const nothing = Buffer.alloc(0)

/**
 * Parses git's output: the changed files, a NUL, the patch. Content lines of a patch never begin at the margin, so a line that
 * begins like a header is one.
 */
class PatchReader {
  readonly #limits: PatchLimits
  /** The unread part of the records; `undefined` once the patch has begun. */
  #records: Inbox | undefined = new Inbox()
  readonly #changes: ChangedFile[] = []
  #files: FilePatch[] = []
  #opened = 0
  /** Slices of the chunks. */
  #text: Buffer[] = []
  #textBytes = 0
  #textLines = 0
  #inHunks = false
  #binary = false
  /** The beginning of an incomplete line. */
  #rest: Buffer = nothing
  /** The incomplete line was too long and has been discarded. */
  #cut = false
  #lines = 0
  #bytes = 0

  constructor(limits: PatchLimits) {
    this.#limits = limits
  }

  /** False once a limit is reached. */
  push(chunk: Buffer): boolean {
    if (!this.#records) return this.#pushPatch(chunk)
    this.#records.push(chunk)
    const patch = this.#takeRecords(this.#records)
    if (!patch) return true
    this.#records = undefined
    return this.#pushPatch(patch)
  }

  finish(overflow: boolean): Patches {
    const whole = overflow || this.#close()
    return { files: this.#files, overflow: overflow || !whole }
  }

  /** The data after the records; `undefined` while records follow. */
  #takeRecords(inbox: Inbox): Buffer | undefined {
    while (inbox.size > 0) {
      if (inbox.peek(1)[0] !== colon) return inbox.take(inbox.size).subarray(1)
      const change = takeChangedFile(inbox)
      if (!change) return undefined
      if (this.#changes.length < this.#limits.files) this.#changes.push(...inParts(change))
    }
    return undefined
  }

  #pushPatch(chunk: Buffer): boolean {
    const data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    this.#rest = nothing
    let at = 0
    if (this.#cut) {
      at = data.indexOf(newline) + 1
      if (at === 0) return true
      this.#cut = false
    }
    let textStart = at
    for (let end = data.indexOf(newline, at); end >= 0; end = data.indexOf(newline, at)) {
      const start = at
      at = end + 1
      if (hasAt(data, start, fileStart)) {
        if (this.#inHunks) this.#keep(data.subarray(textStart, start))
        if (!this.#close() || this.#opened >= this.#limits.files) return false
        this.#opened++
      } else if (this.#inHunks) this.#textLines++
      else if (hasAt(data, start, hunkStart)) {
        this.#inHunks = true
        this.#textLines++
        textStart = start
      } else if (hasAt(data, start, binaryStart)) this.#binary = true
    }
    if (this.#inHunks) this.#keep(data.subarray(textStart, at))
    this.#rest = data.subarray(at)
    if (this.#inHunks && this.#rest.length > this.#limits.fileBytes && !mayStartFile(this.#rest)) {
      this.#keep(this.#rest)
      this.#rest = nothing
      this.#cut = true
    }
    return true
  }

  #keep(text: Buffer): void {
    this.#textBytes += text.length
    if (this.#textBytes <= this.#limits.fileBytes) this.#text.push(text)
    else this.#text = []
  }

  /** Completes the current file. False if it exceeds the limits. */
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

/** An incomplete line that may become a file header; it is buffered regardless of the limits. */
const mayStartFile = (line: Buffer): boolean => {
  const length = Math.min(line.length, fileStart.length)
  return line.compare(fileStart, 0, length, 0, length) === 0
}

/** Compares the first byte first, because most lines differ there. */
const hasAt = (data: Buffer, at: number, start: Buffer): boolean =>
  data[at] === start[0] &&
  at + start.length <= data.length &&
  data.compare(start, 0, start.length, at, at + start.length) === 0

const binaryLine = ({ status, oldPath, newPath }: ChangedFile): string => {
  const old = status === 'added' ? '/dev/null' : `a/${shownPath(oldPath)}`
  const now = status === 'deleted' ? '/dev/null' : `b/${shownPath(newPath)}`
  return `Binary files ${old} and ${now} differ\n`
}

/** Like git's patches: a type change is a deletion and an addition. */
const inParts = (change: ChangedFile): ChangedFile[] =>
  change.status !== 'type_changed'
    ? [change]
    : [
        { ...change, status: 'deleted', newMode: '000000', newOid: undefined },
        { ...change, status: 'added', oldMode: '000000', oldOid: undefined },
      ]
