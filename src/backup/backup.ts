import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DamagedBlob } from '../blobs/blob-store.ts'
import type { LocatedBlobs } from '../blobs/located.ts'
import { FilesHold } from '../db/held-files.ts'
import { Snapshot } from '../db/snapshot.ts'
import { compareRefNames } from '../git/format/ref-name.ts'
import { readKey } from '../git/repository/project-key.ts'
import { inMegabytes } from '../kernel/amounts.ts'
import { Failure } from '../kernel/failure.ts'
import { missingAs } from '../kernel/missing.ts'
import { repositoryDir } from '../modules/projects/index.ts'
import { installationIn, type RepositoryRow, repositoriesIn } from './queries.ts'
import { place, type RepositoryRefs, refsAtMoment } from './refs.ts'
import { repositoryFiles } from './repository-files.ts'
import { type Keep, removeOld } from './retention.ts'
import { newBackupId } from './store/backup-id.ts'
import { InventoryWriter, isAccepted, leftOut, Previous, Reader } from './store/inventory.ts'
import { type Manifest, readManifest } from './store/manifest.ts'
import type { Pace } from './store/pace.ts'
import { BackupDamaged } from './store/seal.ts'
import { BackupStore, type LeaseHolder } from './store/store.ts'
import { bytesIn, type Location, Writer } from './store/writer.ts'

/** Tables that a restore makes anew: the schema, the identity of the installation, and where its blobs are. */
const rebuiltTables: ReadonlySet<string> = new Set([
  'main.schema_migrations',
  'main.installation',
  'main.blob_location',
  'main.blob_objects',
  'graphile_worker.migrations',
])

/** Repositories whose refs are read between two readings of the journal. */
const refsAtOnce = 100

export type StoreOptions = {
  /** URL of the store. */
  readonly at: string
  readonly keyFile: string | undefined
}

export type BackupOptions = StoreOptions & {
  readonly databaseUrl: string
  /** Lets others have the processor before the process of the database server that copies the tables. */
  readonly giveWay: (pid: number) => void
  readonly dataDir: string
  readonly repositoriesDir: string
  readonly blobs: LocatedBlobs
  readonly version: string
  readonly pace: Pace
  /** Reads all files and stores all contents again, instead of relying on earlier backups. */
  readonly full: boolean
  readonly keep: Keep | undefined
  readonly holder: LeaseHolder
  readonly progress: (line: string) => void
}

/** A complete backup, and the number of old ones that were removed; why not, if they could not be. */
export type Made = { readonly manifest: Manifest; readonly removed: number | BackupDamaged }

/**
 * Makes a backup while the service runs. It shows one moment: that of a snapshot of the database. Files are read later, which
 * gives the same result, because contents of files never change, because nothing is deleted until the end (`db/held-files.ts`), and because
 * moves of refs since the moment are undone (`refs.ts`). The backup exists when its manifest is stored, as the last step; until then
 * it consists of contents that no backup refers to.
 */
export async function makeBackup(options: BackupOptions): Promise<Made> {
  const { databaseUrl, progress } = options
  await using hold = await FilesHold.take(databaseUrl, progress)
  const installation = await installationOf(databaseUrl)
  using store = await BackupStore.open(options.at, { keyFile: options.keyFile, create: { installation } })
  return await store.exclusively(options.holder, progress, async () => {
    const manifest = await new Run(options, store, hold).run(installation)
    await hold.release()
    const removed = options.keep ? await removeOld(store, options.keep, progress).catch(whyDamaged) : 0
    return { manifest, removed }
  })
}

async function installationOf(databaseUrl: string): Promise<string> {
  await using snapshot = await Snapshot.take(databaseUrl)
  const installation = await installationIn(snapshot)
  if (installation === undefined)
    throw new Failure('conflict', 'The service has not been started yet: there is nothing to back up.')
  return installation
}

const progressMs = 1_000

class Run {
  readonly #options: BackupOptions
  readonly #store: BackupStore
  readonly #hold: FilesHold
  readonly #problems: string[] = []
  readonly #counts = { tables: 0, rows: 0, repositories: 0, files: 0, blobs: 0, bytes: 0 }
  #reported = performance.now()

  constructor(options: BackupOptions, store: BackupStore, hold: FilesHold) {
    this.#options = options
    this.#store = store
    this.#hold = hold
  }

  async run(installation: string): Promise<Manifest> {
    const known = new Set<string>()
    // All is stored again with `full`, which so replaces contents that are damaged.
    if (!this.#options.full) for await (const name of this.#store.names()) known.add(name)
    const writer = new Writer(this.#store, this.#options.pace, known)
    const inventory = new InventoryWriter(writer)
    const previous = await this.#previous()
    let facts: Pick<Manifest, 'moment' | 'migrations' | 'sequences' | 'eventPosition'> & { moment: string }
    let refs: (Omit<RepositoryRefs, 'refs'> & { at: Location })[]
    {
      await using snapshot = await Snapshot.take(this.#options.databaseUrl)
      this.#options.giveWay(snapshot.pid)
      facts = {
        moment: snapshot.takenAt.toISOString(),
        migrations: await snapshot.migrations(),
        sequences: await snapshot.sequences(),
        eventPosition: snapshot.eventPosition,
      }
      await this.#tables(snapshot, writer, inventory)
      refs = await this.#refs(snapshot, writer)
    }
    for (const { row, at } of refs) await this.#repository(row, at, previous, writer, inventory)
    await this.#dataFiles(writer, inventory)
    await this.#blobs(previous, writer, inventory)
    const at = await inventory.end()
    // Everything was read while nothing could be deleted.
    await this.#hold.requireHeld()
    const manifest: Manifest = {
      id: newBackupId(new Date(facts.moment), (await this.#store.ids()).at(-1)),
      ...facts,
      version: this.#options.version,
      installation,
      inventory: at,
      counts: { ...this.#counts, storedBytes: writer.counts.storedBytes },
      problems: this.#problems,
    }
    await this.#store.putManifest(manifest.id, manifest)
    return manifest
  }

  /** The newest backup that can be read. Without one everything is read. */
  async #previous(): Promise<Previous> {
    if (this.#options.full) return new Previous(undefined)
    for (const id of (await this.#store.ids()).reverse()) {
      const manifest = await readManifest(this.#store, id).catch(() => undefined)
      if (manifest) return new Previous(new Reader(this.#store).entries(manifest.inventory))
    }
    return new Previous(undefined)
  }

  async #tables(snapshot: Snapshot, writer: Writer, inventory: InventoryWriter): Promise<void> {
    for (const table of await snapshot.tables()) {
      if (rebuiltTables.has(`${table.schema}.${table.name}`)) continue
      const before = writer.counts.readBytes
      const rows = writer.rows()
      const count = await snapshot.copy(table, (row) => {
        this.#report(() => `table ${table.name}`)
        return rows.add(row)
      })
      const at = await rows.end()
      await inventory.add({ is: 'table', ...table, rows: count, at })
      this.#counts.tables++
      this.#counts.rows += count
      this.#counts.bytes += writer.counts.readBytes - before
    }
  }

  /** While the snapshot is open, because the journal is compared with it. */
  async #refs(snapshot: Snapshot, writer: Writer): Promise<{ row: RepositoryRow; at: Location }[]> {
    const found: { row: RepositoryRow; at: Location }[] = []
    const rows = await repositoriesIn(snapshot)
    const problem = (text: string) => void this.#problems.push(text)
    for (let first = 0; first < rows.length; first += refsAtOnce) {
      const present = rows.slice(first, first + refsAtOnce).flatMap((row) => {
        const gitDir = this.#dirOf(row)
        return this.#isPresent(row, gitDir) ? [{ row, gitDir }] : []
      })
      for (const { row, refs } of await refsAtMoment(snapshot, this.#hold, present, problem)) {
        const lines = [...refs]
          .sort(([one], [other]) => compareRefNames(one, other))
          .map(([name, oid]) => `${oid} ${name}\n`)
        found.push({ row, at: await writer.bytes(Buffer.from(lines.join(''))) })
      }
      this.#report(() => `refs of ${found.length} repositories`)
    }
    return found
  }

  #dirOf({ repository_storage, id, kind }: RepositoryRow): string {
    return repositoryDir(this.#options.repositoriesDir, repository_storage, id, kind)
  }

  #isPresent(row: RepositoryRow, gitDir: string): boolean {
    const key = readKey(gitDir)
    if (key === row.repository_key) return true
    if (key !== undefined) this.#problems.push(`${place(row)} is not in its place: another one is there`)
    else if (row.default_branch !== null) this.#problems.push(`${place(row)} is missing`)
    return false
  }

  async #repository(
    row: RepositoryRow,
    refs: Location,
    previous: Previous,
    writer: Writer,
    inventory: InventoryWriter,
  ): Promise<void> {
    const gitDir = this.#dirOf(row)
    const known = await previous.repository(row.kind, row.id)
    const files = await repositoryFiles(gitDir, known, writer, (text) => this.#problems.push(`${place(row)}: ${text}`))
    const head =
      row.default_branch === null
        ? await readFile(join(gitDir, 'HEAD'), 'utf8')
        : `ref: refs/heads/${row.default_branch}\n`
    const { kind, id, repository_storage: storage, repository_key: key } = row
    await inventory.add({ is: 'repository', kind, id, storage, key, head, refs })
    for (const file of files) await inventory.add(file)
    this.#counts.repositories++
    this.#counts.files += files.length
    this.#counts.bytes += files.reduce((sum, { size }) => sum + size, 0)
    this.#report(() => `repositories: ${this.#counts.repositories}`)
  }

  async #dataFiles(writer: Writer, inventory: InventoryWriter): Promise<void> {
    const { dataDir } = this.#options
    const ssh = (await readdir(join(dataDir, 'ssh')).catch(missingAs([]))).map((name) => `ssh/${name}`)
    for (const path of ['secrets.keys', 'registry/token-key.pem', ...ssh.sort()]) {
      const facts = await stat(join(dataDir, path)).catch(missingAs(undefined))
      if (facts && !(facts.isFile() && isAccepted('data', path))) {
        this.#problems.push(`the data folder: ${leftOut(path)}`)
        continue
      }
      const content = facts && (await readFile(join(dataDir, path)).catch(missingAs(undefined)))
      if (!content && path === 'secrets.keys')
        this.#problems.push('the data folder: secrets.keys is missing, which decrypts the secrets of the database')
      if (content) await inventory.add({ is: 'data', path, size: content.length, at: await writer.bytes(content) })
    }
  }

  async #blobs(previous: Previous, writer: Writer, inventory: InventoryWriter): Promise<void> {
    const { blobs } = this.#options
    for await (const { digest, sizeBytes } of blobs.listAll()) {
      const known = await previous.blob(digest)
      const earlier = known && writer.has(known) ? known : undefined
      if (earlier && bytesIn(earlier) === sizeBytes)
        await inventory.add({ is: 'blob', digest, size: sizeBytes, at: earlier })
      else {
        const found = await blobs.get(digest)
        const read = found && (await writer.file(found.body as AsyncIterable<Buffer>).catch(orDamaged))
        const isWhole = read?.sha256 === digest
        if (!isWhole) this.#problems.push(`the blob ${digest} is ${found ? 'damaged' : 'missing'}`)
        // The store still has what it was before the damage.
        const at = isWhole ? read.location : earlier
        if (at === undefined) continue
        await inventory.add({ is: 'blob', digest, size: bytesIn(at), at })
      }
      this.#counts.blobs++
      this.#counts.bytes += sizeBytes
      this.#report(() => `blobs: ${this.#counts.blobs}`)
    }
  }

  #report(what: () => string): void {
    if (performance.now() - this.#reported < progressMs) return
    this.#reported = performance.now()
    this.#options.progress(`backup: ${what()}, ${inMegabytes(this.#counts.bytes)}`)
  }
}

function orDamaged(error: unknown): undefined {
  if (!(error instanceof DamagedBlob || (error as Error).cause instanceof DamagedBlob)) throw error
}

function whyDamaged(error: unknown): BackupDamaged {
  if (!(error instanceof BackupDamaged)) throw error
  return error
}
