import { createHash, hash } from 'node:crypto'
import { inMegabytes } from '../kernel/amounts.ts'
import { Failure } from '../kernel/failure.ts'
import { type Entry, isAccepted, leftOut, Reader } from './store/inventory.ts'
import { type Manifest, readManifest } from './store/manifest.ts'
import { BackupDamaged } from './store/seal.ts'
import type { BackupStore } from './store/store.ts'
import { bytesIn } from './store/writer.ts'

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
 * Reads and compares everything that backups refer to; one sentence for each problem, and in `leftOut` one for each file that a restore leaves
 * out, which earlier versions have backed up. Only one backup with an id. Contents that several share are read once. Memory grows with the number of stored contents and of blobs, not with that of files.
 */
export async function verifyBackups(
  store: BackupStore,
  id: string | undefined,
  progress: (line: string) => void,
): Promise<{ problems: string[]; leftOut: string[]; backups: number; bytes: number }> {
  const { manifests, problems } = await listBackups(store)
  const chosen = id === undefined ? manifests : manifests.filter((manifest) => manifest.id === id)
  if (id !== undefined && chosen.length === 0 && problems.every((problem) => !problem.startsWith(`${id}:`)))
    throw new Failure('not_found', `There is no backup ${id} in ${store.name}.`)
  const verification = new Verification(new Reader(store))
  const left: string[] = []
  let reported = performance.now()
  for (const manifest of chosen) {
    const report = (what: string) => problems.push(`${manifest.id}: ${what}`)
    try {
      for await (const entry of new Reader(store).entries(manifest.inventory)) {
        const problem = await verification.problemOf(entry)
        if (problem !== undefined) report(problem)
        if ((entry.is === 'file' || entry.is === 'data') && !isAccepted(entry.is, entry.path))
          left.push(`${manifest.id}: ${leftOut(entry.path)}`)
        if (performance.now() - reported > progressMs) {
          reported = performance.now()
          progress(`verifying ${manifest.id}: ${inMegabytes(verification.bytes)}`)
        }
      }
    } catch (error) {
      if (!(error instanceof BackupDamaged)) throw error
      report(error.message)
    }
  }
  return { problems, leftOut: left, backups: chosen.length, bytes: verification.bytes }
}

/** Verifies entries, and remembers what it has read. */
class Verification {
  readonly #reader: Reader
  /** The size of each stored content, or what is wrong with it. */
  readonly #contents = new Map<string, number | string>()
  /** Digests of blobs and their pieces, shortened. */
  readonly #blobs = new Set<string>()
  /** What was read. */
  bytes = 0

  constructor(reader: Reader) {
    this.#reader = reader
  }

  async problemOf(entry: Entry): Promise<string | undefined> {
    const location = entry.is === 'repository' ? entry.refs : entry.at
    const name = nameOf(entry)
    const blob = entry.is === 'blob' ? keyOf(entry) : undefined
    const digest = blob !== undefined && !this.#blobs.has(blob) ? createHash('sha256') : undefined
    for (const [content, from, length] of location) {
      const isRead = this.#contents.has(content) && !digest
      const bytes = isRead ? undefined : await this.#read(content)
      const found = this.#contents.get(content)!
      if (typeof found === 'string') return `${name}: ${found}`
      if (from + length > found) return `${name}: ${content} is too short`
      if (bytes) digest?.update(bytes.subarray(from, from + length))
    }
    if (entry.is === 'blob') {
      if (digest && digest.digest('hex') !== entry.digest) return `the blob ${name} has another content`
      this.#blobs.add(blob!)
    } else if ('size' in entry && entry.size !== bytesIn(location))
      return `${name} has ${bytesIn(location)} bytes instead of ${entry.size}`
    return undefined
  }

  /** Undefined if it is damaged. */
  async #read(name: string): Promise<Buffer | undefined> {
    try {
      const content = await this.#reader.content(name)
      if (!this.#contents.has(name)) this.bytes += content.length
      this.#contents.set(name, content.length)
      return content
    } catch (error) {
      if (!(error instanceof BackupDamaged)) throw error
      this.#contents.set(name, error.message)
    }
  }
}

/** Short, because there may be millions of blobs. */
const keyOf = ({ digest, at }: Extract<Entry, { is: 'blob' }>): string =>
  hash('sha256', `${digest} ${at.join()}`, 'base64').slice(0, 22)

function nameOf(entry: Entry): string {
  if (entry.is === 'blob') return entry.digest
  if (entry.is === 'repository') return `repository ${entry.id}`
  return 'path' in entry ? entry.path : entry.name
}
