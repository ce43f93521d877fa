import { decodeText, shownPath } from '../format/text.ts'
import { Inbox } from '../runner/inbox.ts'
import { type ChangedFile, takeChangedFile } from './changes.ts'

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

const fileStart = Buffer.from('diff --git ')
const hunkStart = Buffer.from('@@ ')
const binaryStart = Buffer.from('Binary files ')
const newline = 0x0a
const colon = 0x3a
const nothing = Buffer.alloc(0)

/**
 * Parses git's output: the changed files, a NUL, the patch. With `changes`, only the patch follows. Content lines of a patch never begin at the margin, so a line that
 * begins like a header is one.
 */
export class PatchReader {
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

  constructor(limits: PatchLimits, changes?: readonly ChangedFile[]) {
    this.#limits = limits
    if (!changes) return
    this.#records = undefined
    for (const change of changes) this.#add(change)
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
      this.#add(change)
    }
    return undefined
  }

  #add(change: ChangedFile): void {
    if (this.#changes.length < this.#limits.files) this.#changes.push(...inParts(change))
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
