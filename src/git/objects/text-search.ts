import type { Oid } from '../format/oid.ts'
import { pathFromBytes } from '../format/path-bytes.ts'
import { decodeText } from '../format/text.ts'
import type { Repository } from '../repository/repository.ts'
import { GitTimeout } from '../runner/git-error.ts'

/** Consecutive lines of a file: matching lines with two lines of context. */
export type FoundLines = {
  /** The searched commit. */
  readonly commit: Oid
  /** Encoded as in `path-bytes.ts`. */
  readonly path: string
  /** Number of the first line, from 1. */
  readonly firstLine: number
  /** Each line ends in a newline. */
  readonly text: string
}

export type TextSearch = {
  /** One line of plain text; the case of ASCII letters is ignored. If empty, the first lines of each file are found. */
  readonly text: string
  /** Glob for the whole path: `*` matches any text; case-insensitive. */
  readonly like?: string
  /** Filters the results by path. */
  readonly accepts?: (path: string) => boolean
  /** Maximum results and bytes read; the search ends there with the results so far. */
  readonly maxFound: number
  readonly maxBytes: number
  readonly timeoutMs: number
}

/** The results of a search. */
export type Found<Thing> = {
  readonly found: readonly Thing[]
  /** The search was exhaustive. */
  readonly complete: boolean
  /** Stopped by its timeout: the same search may find more another time. */
  readonly timedOut: boolean
}

/** Finds a text in the files of commits, in the order of commits and paths; skips binary files. One `grep` process. */
export async function searchText(
  repo: Repository,
  commits: readonly Oid[],
  search: TextSearch,
): Promise<Found<FoundLines>> {
  // The text is part of the flag's argument, so it cannot be a flag itself.
  const pattern = search.text === '' ? (['--max-count=1', '-e^'] as const) : (['-F', `-e${search.text}`] as const)
  const command = {
    flags: ['-I', '-i', '-n', '-z', '-C2', '--threads=2', '--full-name', '--no-color', ...pattern],
    args: commits,
    // 1: no match, also if git could not read some of the files.
    accept: [0, 1],
    strict: true,
    timeoutMs: search.timeoutMs,
    ...(search.like !== undefined && {
      paths: [`:(icase)${search.like.replaceAll(/[?[\\]/g, '\\$&')}`],
      env: { GIT_LITERAL_PATHSPECS: '0' },
    }),
  } as const
  const places = new Places(search)
  let bytes = 0
  try {
    for await (const chunk of repo.read('grep', command)) {
      bytes += chunk.length
      places.read(chunk)
      if (places.isFull || bytes > search.maxBytes) return { found: places.found, complete: false, timedOut: false }
    }
  } catch (error) {
    if (!(error instanceof GitTimeout)) throw error
    return { found: places.found, complete: false, timedOut: true }
  }
  places.end()
  return { found: places.found, complete: true, timedOut: false }
}

/**
 * Parses the output of `grep -z -n -C2`: `<commit>:<path> NUL <number> NUL <line> LF`, with a line `--` between groups that are
 * not consecutive.
 */
class Places {
  readonly found: FoundLines[] = []
  readonly #search: TextSearch
  #rest: Buffer = Buffer.alloc(0)
  #open: { commit: Oid; path: string; firstLine: number; lines: Buffer[] } | undefined

  constructor(search: TextSearch) {
    this.#search = search
  }

  get isFull(): boolean {
    return this.found.length >= this.#search.maxFound
  }

  read(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    while (!this.isFull) {
      const length = this.#take(bytes.subarray(at))
      if (length === 0) break
      at += length
    }
    this.#rest = bytes.subarray(at)
  }

  /** Completes the last group, which no separator follows. */
  end(): void {
    const place = this.#open
    this.#open = undefined
    if (!place || this.isFull || this.#search.accepts?.(place.path) === false) return
    const { lines, ...where } = place
    this.found.push({ ...where, text: decodeText(Buffer.concat(lines)) })
  }

  /** Consumes a line and returns its length in bytes; 0 if the line is incomplete. */
  #take(bytes: Buffer): number {
    if (bytes.subarray(0, 3).equals(separator)) {
      this.end()
      return separator.length
    }
    const pathEnd = bytes.indexOf(0)
    const numberEnd = pathEnd < 0 ? -1 : bytes.indexOf(0, pathEnd + 1)
    const lineEnd = numberEnd < 0 ? -1 : bytes.indexOf(newline, numberEnd + 1)
    if (lineEnd < 0) return 0
    const commitEnd = bytes.indexOf(colon)
    const commit = bytes.toString('latin1', 0, commitEnd) as Oid
    const path = pathFromBytes(bytes.subarray(commitEnd + 1, pathEnd))
    if (this.#open?.path !== path || this.#open.commit !== commit) {
      this.end()
      this.#open = { commit, path, firstLine: Number(bytes.toString('latin1', pathEnd + 1, numberEnd)), lines: [] }
    }
    this.#open.lines.push(bytes.subarray(numberEnd + 1, lineEnd + 1))
    return lineEnd + 1
  }
}

const separator = Buffer.from('--\n')
const newline = 0x0a
const colon = 0x3a
