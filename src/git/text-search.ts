import { Failure } from '../kernel/failure.ts'
import { GitError } from './git-error.ts'
import type { Oid } from './oid.ts'
import { pathFromBytes } from './path-bytes.ts'
import type { Repository } from './repository.ts'
import { decodeText } from './text.ts'

/** Lines of a file that follow one another: those with the text and two around each. */
export type FoundLines = {
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
  /** Ends the search, with what was found, after so many places or so many bytes read. */
  readonly maxFound: number
  readonly maxBytes: number
  readonly timeoutMs: number
}

/** `complete`: there is nothing else to find. */
export type TextFound = { readonly found: readonly FoundLines[]; readonly complete: boolean }

/**
 * Where a text stands in the files of a commit, in the order of paths; binary files are left out. One `grep` process.
 * `Failure('unavailable')` when it takes too long.
 */
export async function searchText(repo: Repository, commit: Oid, search: TextSearch): Promise<TextFound> {
  const child = await repo.start('grep', {
    // The text stands in the word of its flag, so it is none itself.
    flags: ['-I', '-i', '-n', '-z', '-F', '-C2', '--threads=2', '--full-name', '--no-color', `-e${search.text}`],
    args: [commit],
    timeoutMs: search.timeoutMs,
    ...(search.like !== undefined && {
      paths: [`:(icase)${search.like.replaceAll(/[?[\\]/g, '\\$&')}`],
      env: { GIT_LITERAL_PATHSPECS: '0' },
    }),
  })
  const places = new Places(commit, search)
  let bytes = 0
  for await (const chunk of child as AsyncIterable<Buffer>) {
    bytes += chunk.length
    places.read(chunk)
    // Leaving the loop ends the process.
    if (places.isFull || bytes > search.maxBytes) return { found: places.found, complete: false }
  }
  const { code, signal, stderr, timedOut } = await child.done
  const failed = new GitError('grep', code, signal, stderr)
  if (timedOut) throw new Failure('unavailable', 'The search took too long', { cause: failed })
  // 1: nothing was found.
  if (code !== 0 && code !== 1) throw failed
  places.end()
  return { found: places.found, complete: true }
}

/**
 * Reads what `grep -z -n -C2` says: `<commit>:<path> NUL <number> NUL <line> LF`, and `--` on a line of its own between what
 * does not follow one another.
 */
class Places {
  readonly found: FoundLines[] = []
  readonly #search: TextSearch
  readonly #prefixLength: number
  #rest: Buffer = Buffer.alloc(0)
  #open: { path: string; firstLine: number; lines: Buffer[] } | undefined

  constructor(commit: Oid, search: TextSearch) {
    this.#search = search
    this.#prefixLength = commit.length + 1
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
    const { path, firstLine, lines } = this.#open ?? {}
    this.#open = undefined
    if (path === undefined || this.isFull || this.#search.accepts?.(path) === false) return
    this.found.push({ path, firstLine: firstLine!, text: decodeText(Buffer.concat(lines!)) })
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
    const path = pathFromBytes(bytes.subarray(this.#prefixLength, pathEnd))
    if (this.#open?.path !== path) {
      this.end()
      this.#open = { path, firstLine: Number(bytes.toString('latin1', pathEnd + 1, numberEnd)), lines: [] }
    }
    this.#open.lines.push(bytes.subarray(numberEnd + 1, lineEnd + 1))
    return lineEnd + 1
  }
}

const separator = Buffer.from('--\n')
const newline = 0x0a
