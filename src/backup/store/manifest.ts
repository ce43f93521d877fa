import type { SequenceValue } from '../../db/snapshot.ts'
import type { BackupStore } from './store.ts'
import type { Piece } from './writer.ts'

/** What a backup consists of. Stored last: a backup without it does not exist. */
export type Manifest = {
  readonly id: string
  /** The moment that the backup shows, by the clock of the database; ISO 8601. */
  readonly moment: string
  readonly version: string
  readonly installation: string
  /** The schema: names of the product's migrations, number of those of the job queue. */
  readonly migrations: { readonly product: readonly string[]; readonly jobs: number }
  readonly sequences: readonly SequenceValue[]
  readonly eventPosition: string
  readonly inventory: readonly Piece[]
  readonly counts: {
    readonly tables: number
    readonly rows: number
    readonly repositories: number
    readonly files: number
    readonly blobs: number
    /** Of all of it, uncompressed; and what this backup has added to the store, compressed. */
    readonly bytes: number
    readonly storedBytes: number
  }
  /** What could not be backed up, as sentences: damaged or missing files. */
  readonly problems: readonly string[]
}

export const readManifest = async (store: BackupStore, id: string): Promise<Manifest> =>
  (await store.getManifest(id)) as Manifest
