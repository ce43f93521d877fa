import { BackupDamaged } from './seal.ts'
import type { BackupStore } from './store.ts'
import { type Location, type Piece, piecesOf, type Writer } from './writer.ts'

export type RepositoryKind = 'project' | 'side'

/** A file as it was when it was read: if nothing of this differs, its content does not. */
export type FileFacts = {
  readonly size: number
  readonly inode: string
  readonly mtime: string
  readonly ctime: string
}

type Entries<At> =
  | {
      readonly is: 'table'
      readonly schema: 'main' | 'graphile_worker'
      readonly name: string
      readonly columns: readonly string[]
      readonly rows: number
      readonly at: At
    }
  | {
      readonly is: 'repository'
      readonly kind: RepositoryKind
      readonly id: number
      readonly storage: string
      readonly key: string
      /** Content of HEAD. */
      readonly head: string
      /** Lines of object id and name. */
      readonly refs: At
    }
  /** A file of the repository before it; without facts it is always read again. */
  | { readonly is: 'file'; readonly path: string; readonly size: number; readonly facts?: FileFacts; readonly at: At }
  /** A file of the data folder. */
  | { readonly is: 'data'; readonly path: string; readonly size: number; readonly at: At }
  | { readonly is: 'blob'; readonly digest: string; readonly size: number; readonly at: At }

/**
 * A line of the inventory of a backup. Their order: tables; repositories of projects, then side repositories, by id, each with its
 * files; files of the data folder; blobs by digest.
 */
export type Entry = Entries<readonly Piece[]>
export type NewEntry = Entries<Location>

/** Files in the folder of a repository, or in its `info`, that a restore makes anew, or that git has not finished. */
const rebuilt = /^(info\/)?(HEAD|packed-refs(\.new)?|FETCH_HEAD|ORIG_HEAD|gc\.pid|.*\.lock|tmp_.*)$/

export const isRebuilt = (path: string): boolean => rebuilt.test(path)

const accepted = {
  file: /^([\w.-]+|info\/[\w.-]+|objects\/([0-9a-f]{2}\/[0-9a-f]{38}|pack\/pack-[0-9a-f]{40}\.\w+|info\/commit-graphs\/[\w-]+(\.graph)?))$/,
  data: /^(secrets\.keys|ssh\/[\w.-]+|registry\/[\w.-]+)$/,
} as const

/**
 * Whether a backup may have this file: another program may have written it. A restore writes no other, and no backup has a file that
 * the restore would refuse.
 */
export const isAccepted = (is: 'file' | 'data', path: string): boolean =>
  accepted[is].test(path) && path.split('/').every((part) => !/^\.+$/.test(part)) && !(is === 'file' && isRebuilt(path))

/** What users read of a file that is not accepted. */
export const leftOut = (path: string): string =>
  `${JSON.stringify(path)} is left out, because a restore does not write it`

/** Entries wait for the names of their pieces; more are not kept in memory. */
const maxWaiting = 20_000

/** Writes an inventory. */
export class InventoryWriter {
  readonly #writer: Writer
  readonly #waiting: NewEntry[] = []
  readonly #lines: string[] = []
  readonly #location: Location[] = []
  #lineBytes = 0
  count = 0

  constructor(writer: Writer) {
    this.#writer = writer
  }

  async add(entry: NewEntry): Promise<void> {
    this.#waiting.push(entry)
    this.count++
    if (this.#waiting.length >= maxWaiting) await this.#write()
  }

  async #write(): Promise<void> {
    await this.#writer.completeBundle()
    for (const entry of this.#waiting.splice(0)) {
      const named =
        entry.is === 'repository' ? { ...entry, refs: piecesOf(entry.refs) } : { ...entry, at: piecesOf(entry.at) }
      const line = `${JSON.stringify(named)}\n`
      this.#lines.push(line)
      this.#lineBytes += line.length
    }
    if (this.#lineBytes > 4 * 1024 * 1024) await this.#store()
  }

  async #store(): Promise<void> {
    if (this.#lines.length === 0) return
    this.#location.push(await this.#writer.bytes(Buffer.from(this.#lines.splice(0).join(''))))
    this.#lineBytes = 0
  }

  /** Where the inventory is. */
  async end(): Promise<Piece[]> {
    await this.#write()
    await this.#store()
    await this.#writer.flush()
    return this.#location.flatMap(piecesOf)
  }
}

/** Reads what was stored. Small files share pieces, so it remembers a few. */
export class Reader {
  readonly #store: BackupStore
  readonly #recent = new Map<string, Promise<Buffer>>()

  constructor(store: BackupStore) {
    this.#store = store
  }

  /** A whole content. */
  async content(name: string): Promise<Buffer> {
    let content = this.#recent.get(name)
    if (content) this.#recent.delete(name)
    else {
      content = this.#store.get(name)
      content.catch(() => {})
    }
    this.#recent.set(name, content)
    if (this.#recent.size > 4) this.#recent.delete(this.#recent.keys().next().value!)
    return content
  }

  async piece([name, from, length]: Piece): Promise<Buffer> {
    const bytes = (await this.content(name)).subarray(from, from + length)
    if (bytes.length !== length) throw new BackupDamaged(`${name} is too short`)
    return bytes
  }

  async *pieces(location: readonly Piece[]): AsyncIterable<Buffer> {
    for (const piece of location) yield await this.piece(piece)
  }

  async bytes(location: readonly Piece[]): Promise<Buffer> {
    const parts: Buffer[] = []
    for await (const part of this.pieces(location)) parts.push(part)
    return Buffer.concat(parts)
  }

  /** The entries of an inventory, in order. */
  async *entries(location: readonly Piece[]): AsyncIterable<Entry> {
    let rest = ''
    const decoder = new TextDecoder()
    for (const piece of location) {
      const lines = (rest + decoder.decode(await this.piece(piece), { stream: true })).split('\n')
      rest = lines.pop()!
      for (const line of lines) yield JSON.parse(line) as Entry
    }
    if (rest !== '') throw new BackupDamaged('its inventory is cut')
  }
}

type RepositoryEntry = Extract<Entry, { is: 'repository' }>
type FileEntry = Extract<Entry, { is: 'file' }>

/**
 * The previous backup, read in step with the next one and in the same order, which needs little memory. It says only which files do not
 * have to be read again.
 */
export class Previous {
  readonly #entries: AsyncIterator<Entry> | undefined
  #current: Entry | undefined
  #began = false

  constructor(entries: AsyncIterable<Entry> | undefined) {
    this.#entries = entries?.[Symbol.asyncIterator]()
  }

  /** The files of a repository by their paths. Repositories must be asked for in their order. */
  async repository(kind: RepositoryKind, id: number): Promise<ReadonlyMap<string, FileEntry>> {
    const files = new Map<string, FileEntry>()
    for (let entry = await this.#peek(); entry; entry = await this.#next()) {
      if (entry.is === 'repository' && !isBefore(entry, { kind, id })) break
      if (entry.is === 'data' || entry.is === 'blob') return files
    }
    const found = await this.#peek()
    if (found?.is !== 'repository' || found.kind !== kind || found.id !== id) return files
    for (let entry = await this.#next(); entry?.is === 'file'; entry = await this.#next()) files.set(entry.path, entry)
    return files
  }

  /** Where a blob is. Blobs must be asked for in the order of their digests. */
  async blob(digest: string): Promise<readonly Piece[] | undefined> {
    for (let entry = await this.#peek(); entry; entry = await this.#next()) {
      if (entry.is !== 'blob' || entry.digest < digest) continue
      return entry.digest === digest ? entry.at : undefined
    }
    return undefined
  }

  #peek(): Promise<Entry | undefined> {
    return this.#began ? Promise.resolve(this.#current) : this.#next()
  }

  async #next(): Promise<Entry | undefined> {
    this.#began = true
    // A damaged one does not prevent the next backup, which then reads everything.
    const next = await this.#entries?.next().catch((error) => {
      if (!(error instanceof BackupDamaged)) throw error
    })
    this.#current = next && !next.done ? next.value : undefined
    return this.#current
  }
}

const isBefore = (one: Pick<RepositoryEntry, 'kind' | 'id'>, other: Pick<RepositoryEntry, 'kind' | 'id'>): boolean =>
  one.kind === other.kind ? one.id < other.id : one.kind === 'project'
