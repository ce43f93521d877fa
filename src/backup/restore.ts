import { chmod, mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import type { BlobStore, Digest } from '../blobs/blob-store.ts'
import { openDatabase } from '../db/database.ts'
import { beginRestore, endRestore, loadTables, migrationsOf } from '../db/load.ts'
import { migrate } from '../db/migrate.ts'
import type { TableName } from '../db/snapshot.ts'
import { continuePositions } from '../events/positions.ts'
import type { Oid } from '../git/format/oid.ts'
import { parseRefName } from '../git/format/ref-name.ts'
import type { RefFile } from '../git/refs/packed-refs.ts'
import { packedRefsText } from '../git/refs/write-packed-refs.ts'
import { bareConfig } from '../git/repository/bare-repository.ts'
import { inMegabytes } from '../kernel/amounts.ts'
import { makeFolder, syncTree } from '../kernel/durable.ts'
import { Failure } from '../kernel/failure.ts'
import { repositoryDir, saveInstallationId } from '../modules/projects/index.ts'
import { type Entry, isAccepted, leftOut, Reader } from './store/inventory.ts'
import { type Manifest, readManifest } from './store/manifest.ts'
import { BackupDamaged } from './store/seal.ts'
import type { BackupStore } from './store/store.ts'
import { bytesIn } from './store/writer.ts'

export type RestoreOptions = {
  readonly store: BackupStore
  readonly manifest: Manifest
  /** Empty, or migrated only. */
  readonly databaseUrl: string
  /** Empty. */
  readonly dataDir: string
  readonly repositoriesDir: string
  /** Opened when the tables are there. */
  readonly openBlobs: () => Promise<{ readonly blobs: BlobStore } & AsyncDisposable>
  /** The id that database and data folder get. */
  readonly installation: string
  readonly progress: (line: string) => void
}

/** A backup by its id, or the newest one. */
export async function findManifest(store: BackupStore, id: string | undefined): Promise<Manifest> {
  const newest = (await store.ids()).at(-1)
  if (newest === undefined) throw new Failure('not_found', `There are no complete backups in ${store.name}.`)
  return readManifest(store, id ?? newest)
}

/**
 * Restores a backup into an empty data folder and an empty database. Verifies every content. The last step gives the database its
 * installation id; until then no service starts with it. The caller marks the data folder in the same way. Returns a sentence for each file
 * of the backup that was left out.
 */
export async function restore(options: RestoreOptions): Promise<readonly string[]> {
  const { manifest, databaseUrl, progress } = options
  await beginRestore(databaseUrl)
  progress('creating the tables of the database')
  const migrations = new Set(manifest.migrations.product)
  await migrate(databaseUrl, () => {}, migrations)
  requireSameSchema(manifest, await migrationsOf(databaseUrl))
  const work = new Restore(options)
  await work.run()
  // An upgrade, if the backup is of an earlier version.
  await migrate(databaseUrl, progress)
  await using db = openDatabase(databaseUrl, { readers: 1, writers: 1 })
  await db.transaction(async (tx) => {
    await continuePositions(tx, manifest.eventPosition)
    // In one transaction: a database without an id is taken for a new one.
    await saveInstallationId(tx, options.installation)
    await endRestore(tx)
  })
  return work.leftOut
}

function requireSameSchema({ version, migrations }: Manifest, now: Manifest['migrations']): void {
  const has = new Set(now.product)
  const unknown = migrations.product.some((name) => !has.has(name))
  if (unknown || migrations.jobs !== now.jobs || has.size !== migrations.product.length)
    throw new Failure(
      'conflict',
      unknown
        ? `The backup was made by Stithy ${version}, which is newer: restore it with that version.`
        : `The backup was made by Stithy ${version}, whose database differs: create an empty database, and restore the backup with that version.`,
    )
}

type TableEntry = Extract<Entry, { is: 'table' }>
type RepositoryEntry = Extract<Entry, { is: 'repository' }>
type FileEntry = Extract<Entry, { is: 'file' | 'data' }>
type BlobEntry = Extract<Entry, { is: 'blob' }>

const progressMs = 1_000

class Restore {
  readonly #options: RestoreOptions
  readonly #reader: Reader
  /** A sentence for each file that was not written. */
  readonly leftOut: string[] = []
  #bytes = 0
  #reported = performance.now()

  constructor(options: RestoreOptions) {
    this.#options = options
    this.#reader = new Reader(options.store)
  }

  async run(): Promise<void> {
    const { manifest, repositoriesDir, dataDir, openBlobs } = this.#options
    await this.#tables()
    let gitDir: string | undefined
    await using opened = await openBlobs()
    for await (const entry of this.#reader.entries(manifest.inventory)) {
      if (entry.is === 'repository') gitDir = await this.#repository(entry)
      else if (entry.is === 'file') await this.#file(gitDir, entry)
      else if (entry.is === 'data') await this.#file(dataDir, entry)
      else if (entry.is === 'blob') await this.#blob(opened.blobs, entry)
      this.#report(entry.is)
    }
    await makeFolder(repositoriesDir, 0o700)
    this.#options.progress('writing everything to the disk')
    await syncTree(dataDir)
  }

  async #tables(): Promise<void> {
    const { manifest, databaseUrl, progress } = this.#options
    const tables: TableEntry[] = []
    for await (const entry of this.#reader.entries(manifest.inventory)) {
      if (entry.is !== 'table') break
      tables.push(entry)
    }
    const nameOf = ({ schema, name }: TableName) => `${schema}.${name}`
    const locations = new Map(tables.map((table) => [nameOf(table), table.at]))
    await loadTables(databaseUrl, {
      tables,
      sequences: manifest.sequences,
      read: (table) => this.#reader.pieces(locations.get(nameOf(table))!),
      progress,
    })
  }

  async #repository({ kind, id, storage, head, refs }: RepositoryEntry): Promise<string> {
    const gitDir = repositoryDir(this.#options.repositoriesDir, storage, id, kind)
    // Git takes a folder for a repository only if it has these.
    for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info'])
      await mkdir(join(gitDir, folder), { recursive: true, mode: 0o700 })
    await this.#write(join(gitDir, 'HEAD'), [Buffer.from(head)])
    await this.#write(join(gitDir, 'config'), [Buffer.from(bareConfig)])
    const packed: RefFile[] = []
    // Git refuses the whole file for a line that it cannot read.
    for (const line of (await this.#reader.bytes(refs)).toString().split('\n').slice(0, -1)) {
      const name = /^[0-9a-f]{40} /.test(line) ? parseRefName(nameIn(line)) : undefined
      if (name) packed.push({ name, oid: line.slice(0, 40) as Oid })
      else this.leftOut.push(`${gitDir}: ${leftOut(nameIn(line))}`)
    }
    if (packed.length > 0) await this.#write(join(gitDir, 'packed-refs'), [Buffer.from(packedRefsText(packed))])
    return gitDir
  }

  async #file(folder: string | undefined, entry: FileEntry): Promise<void> {
    const { is, path, size, at } = entry
    if (folder === undefined) throw new BackupDamaged(`${path} is in no repository`)
    // Earlier versions have backed up files that others had put there.
    if (!isAccepted(is, path)) {
      this.leftOut.push(`${folder}: ${leftOut(path)}`)
      return
    }
    // It can name programs that git runs, so it is not the one of the backup.
    if (is === 'file' && path === 'config') return
    const target = join(folder, path)
    const written = await this.#write(target, this.#reader.pieces(at))
    if (written !== size) throw new BackupDamaged(`${path} has ${written} bytes instead of ${size}`)
    // As git creates them.
    if (is === 'file' && path.startsWith('objects/') && !path.endsWith('-chain')) await chmod(target, 0o400)
  }

  async #write(path: string, content: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<number> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await using file = await open(path, 'wx', 0o600)
    let size = 0
    for await (const bytes of content) {
      await file.writeFile(bytes)
      size += bytes.length
    }
    await file.sync()
    this.#bytes += size
    return size
  }

  async #blob(blobs: BlobStore, { digest, at }: BlobEntry): Promise<void> {
    const source = Readable.from(this.#reader.pieces(at), { objectMode: false })
    // Earlier versions have noted the size of a file that was damaged when the backup was made.
    const sizeBytes = bytesIn(at)
    await blobs.put(source, { digest: digest as Digest, sizeBytes })
    this.#bytes += sizeBytes
  }

  #report(what: Entry['is']): void {
    if (performance.now() - this.#reported < progressMs) return
    this.#reported = performance.now()
    this.#options.progress(`restoring: ${what === 'blob' ? 'blobs' : 'repositories'}, ${inMegabytes(this.#bytes)}`)
  }
}

/** The name in a line of `<oid> <name>`. */
const nameIn = (line: string): string => line.slice(line.indexOf(' ') + 1)
