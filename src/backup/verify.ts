import { createHash } from 'node:crypto'
import { Failure } from '../kernel/failure.ts'
import { isAccepted, leftOut, Reader } from './store/inventory.ts'
import { type Manifest, readManifest } from './store/manifest.ts'
import { BackupDamaged } from './store/seal.ts'
import type { BackupStore } from './store/store.ts'

const progressMs = 1_000

/** The manifests of all complete backups, oldest first; `problems` has a sentence for each that cannot be read. */
export async function listBackups(store: BackupStore): Promise<{ manifests: Manifest[]; problems: string[] }> {
  const manifests: Manifest[] = []
  const problems: string[] = []
  for (const id of await store.ids())
    try {
      manifests.push(await readManifest(store, id))
    } catch (error) {
      if (!(error instanceof BackupDamaged)) throw error
      problems.push(`${id}: ${error.message}`)
    }
  return { manifests, problems }
}

/**
 * Reads and compares everything that backups refer to; one sentence for each problem. Only one backup with an id. Contents that
 * several share are read once.
 */
export async function verifyBackups(
  store: BackupStore,
  id: string | undefined,
  progress: (line: string) => void,
): Promise<{ problems: string[]; backups: number; bytes: number }> {
  const { manifests, problems } = await listBackups(store)
  const chosen = id === undefined ? manifests : manifests.filter((manifest) => manifest.id === id)
  if (id !== undefined && chosen.length === 0 && problems.every((problem) => !problem.startsWith(`${id}:`)))
    throw new Failure('not_found', `There is no backup ${id} in ${store.name}.`)
  const verified = new Set<string>()
  let bytes = 0
  let reported = performance.now()
  for (const manifest of chosen) {
    const report = (what: string) => problems.push(`${manifest.id}: ${what}`)
    const reader = new Reader(store)
    try {
      for await (const entry of reader.entries(manifest.inventory)) {
        if ((entry.is === 'file' || entry.is === 'data') && !isAccepted(entry.is, entry.path))
          report(leftOut(entry.path))
        const location = entry.is === 'repository' ? entry.refs : entry.at
        const isKnown = location.every((piece) => verified.has(piece.join()))
        if (isKnown) continue
        const name =
          entry.is === 'blob'
            ? entry.digest
            : entry.is === 'repository'
              ? `repository ${entry.id}`
              : 'path' in entry
                ? entry.path
                : entry.name
        try {
          const digest = createHash('sha256')
          let size = 0
          for await (const part of reader.pieces(location)) {
            digest.update(part)
            size += part.length
          }
          bytes += size
          if ('size' in entry && entry.size !== size) report(`${name} has ${size} bytes instead of ${entry.size}`)
          if (entry.is === 'blob' && digest.digest('hex') !== entry.digest)
            report(`the blob ${name} has another content`)
          for (const piece of location) verified.add(piece.join())
        } catch (error) {
          if (!(error instanceof BackupDamaged)) throw error
          report(`${name}: ${error.message}`)
        }
        if (performance.now() - reported > progressMs) {
          reported = performance.now()
          progress(`verifying ${manifest.id}: ${(bytes / 1e6).toFixed(0)} MB`)
        }
      }
    } catch (error) {
      if (!(error instanceof BackupDamaged)) throw error
      report(error.message)
    }
  }
  return { problems, backups: chosen.length, bytes }
}
