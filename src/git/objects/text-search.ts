import type { Oid } from '../format/oid.ts'
import { pathFromBytes } from '../format/path-bytes.ts'
import { decodeText } from '../format/text.ts'
import type { Repository } from '../repository/repository.ts'
import { GitError } from '../runner/git-error.ts'

/** Lines of a file that follow one another: those with the text and two around each. */
export type FoundLines = {
  /** The commit that was searched. */
  readonly commit: Oid
  /** See `path-bytes.ts`. */
  readonly path: string
  /** Of the first line, from 1. */
  readonly firstLine: number
  /** Each ends in a newline. */
  readonly text: string
}

export type TextSearch = {
  /** One line of plain text; the case of ASCII letters does not matter. */
  readonly text: string
  /** Looks only into files whose whole path is like this: `*` is any text, in any case. */
  readonly like?: string
  /** Of the files found, those that count. */
  readonly accepts?: (path: string) => boolean
  /** Maximum results and bytes read; the search ends there with the results so far. */
  readonly maxFound: number
  readonly maxBytes: number
  readonly timeoutMs: number
}

/** What a search found before it ended. */
export type Found<Thing> = {
  readonly found: readonly Thing[]
  /** There is nothing else to find. */
  readonly complete: boolean
  /** Ended by its deadline: the same search may find more another time. */
  readonly timedOut: boolean
}

/**
 * Where a text stands in the files of some commits, in the order of commits and paths; binary files are left out. One `grep`
 * process.
 */
export async function searchText(
  repo: Repository,
  commits: readonly Oid[],
  search: TextSearch,
): Promise<Found<FoundLines>> {
  const child = await repo.start('grep', {
    // The text stands in the word of its flag, so it is none itself.
    flags: ['-I', '-i', '-n', '-z', '-F', '-C2', '--threads=2', '--full-name', '--no-color', `-e${search.text}`],
    args: commits,
    timeoutMs: search.timeoutMs,
    ...(search.like !== undefined && {
      paths: [`:(icase)${search.like.replaceAll(/[?[\\]/g, '\\$&')}`],
      env: { GIT_LITERAL_PATHSPECS: '0' },
    }),
  })
  const places = new Places(search)
  let bytes = 0
  for await (const chunk of child as AsyncIterable<Buffer>) {
    bytes += chunk.length
    places.read(chunk)
    // Leaving the loop ends the process.
    if (places.isFull || bytes > search.maxBytes) return { found: places.found, complete: false, timedOut: false }
  }
  const { code, signal, stderr, timedOut } = await child.done
  if (timedOut) return { found: places.found, complete: false, timedOut }
  // 1: nothing was found.
  if (code !== 0 && code !== 1) throw new GitError('grep', code, signal, stderr)
  places.end()
  return { found: places.found, complete: true, timedOut }
}

/**
 * Reads what `grep -z -n -C2` says: `<commit>:<path> NUL <number> NUL <line> LF`, and `--` on a line of its own between what
 * does not follow one another.
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

  /** The last place has no separator after it. */
  end(): void {
    const place = this.#open
    this.#open = undefined
    if (!place || this.isFull || this.#search.accepts?.(place.path) === false) return
    const { lines, ...where } = place
    this.found.push({ ...where, text: decodeText(Buffer.concat(lines)) })
  }

  /** The bytes of the next line; 0 when it is not all there. */
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
