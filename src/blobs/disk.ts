import { randomBytes, randomUUID } from 'node:crypto'
import { constants, createReadStream, type Stats } from 'node:fs'
import {
  access,
  type FileHandle,
  link,
  mkdir,
  open,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { makeFolder, syncFolder } from '../kernel/durable.ts'
import { Failure } from '../kernel/failure.ts'
import { isThere, missingAs, namesIn } from '../kernel/missing.ts'
import { isOwnerGone, ownerMark } from '../kernel/owner-mark.ts'
import { type BlobStore, type Digest, type FoundBlob, parseDigest, type StoredBlob, unexpected } from './blob-store.ts'
import { verified } from './verified-body.ts'
import { writeFileOf } from './write-file.ts'

/*
 *     <folder>/
 *       tmp/<owner>-<uuid>      being written, by the process that the name says
 *       sha256/ab/cd/abcd…      whole, durable, named by its digest
 *       leaving/abcd…           about to be deleted, and still read, unless it proves to be wanted again
 */

/** Bytes of one read. Larger ones are not faster. */
const readBytes = 256 * 1024

/** Stores blobs as files in one folder. */
export class DiskBlobs implements BlobStore {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  async put(source: Readable, expected?: StoredBlob): Promise<StoredBlob> {
    const unfinished = join(this.#folder, 'tmp')
    const temporary = join(unfinished, `${ownerMark()}-${randomUUID()}`)
    // The reader of the stream gets the error. Until reading begins, an error without a listener would end the process.
    source.on('error', () => {})
    try {
      await makeFolder(unfinished, 0o700)
      const { digest, sizeBytes, broken } = await writeFileOf(temporary, source, (bytes) => {
        if (expected && bytes > expected.sizeBytes) throw unexpected()
      })
      if (broken !== undefined) throw broken
      if (expected && (digest !== expected.digest || sizeBytes !== expected.sizeBytes)) throw unexpected()
      await this.#place(temporary, digest)
      return { digest, sizeBytes }
    } catch (error) {
      // Even if nothing was read: the source may hold an open file.
      source.destroy()
      await rm(temporary, { force: true })
      throw error
    }
  }

  async adopt(path: string, { digest, sizeBytes }: StoredBlob): Promise<void> {
    // A deletion compares this time, and the file may have been written long ago.
    const now = new Date()
    await utimes(path, now, now)
    await this.#place(path, digest).catch(async (error: NodeJS.ErrnoException) => {
      // On another file system.
      if (error.code !== 'EXDEV') throw error
      await this.put(createReadStream(path), { digest, sizeBytes })
      await rm(path)
    })
  }

  /**
   * Replaces an existing file with the same bytes: a concurrent deletion has either moved the old file or sees the age of the
   * new one.
   */
  async #place(temporary: string, digest: Digest): Promise<void> {
    const path = this.#path(digest)
    const folder = dirname(path)
    await makeFolder(folder, 0o700)
    await rename(temporary, path)
    await syncFolder(folder)
  }

  async get(digest: Digest, range?: { start: number; end: number }): Promise<FoundBlob | undefined> {
    const file = await this.#open(digest)
    if (!file) return undefined
    try {
      const { size } = await file.stat()
      const body = file.createReadStream({ ...range, highWaterMark: readBytes })
      // A part has no digest.
      return { sizeBytes: size, body: range ? body : verified(body, { length: size, digest }) }
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async copyTo(
    digest: Digest,
    { start, end }: { start: number; end: number },
    write: (chunk: Buffer) => Promise<void>,
  ): Promise<boolean> {
    const file = await this.#open(digest)
    if (!file) return false
    const buffers = [Buffer.allocUnsafeSlow(readBytes), Buffer.allocUnsafeSlow(readBytes)] as const
    try {
      let position = start
      let written: Promise<void> = Promise.resolve()
      for (let turn: 0 | 1 = 0; position <= end; turn = turn === 0 ? 1 : 0) {
        // While the other buffer is written.
        const { bytesRead } = await file.read(buffers[turn], 0, Math.min(readBytes, end - position + 1), position)
        await written
        if (bytesRead === 0) throw new Error(`the blob ${digest} ends at byte ${position}`)
        position += bytesRead
        written = write(buffers[turn].subarray(0, bytesRead))
        // Awaited in the next turn.
        written.catch(() => {})
      }
      await written
      return true
    } finally {
      await file.close()
    }
  }

  async has(digest: Digest): Promise<boolean> {
    return (await this.size(digest)) !== undefined
  }

  async size(digest: Digest): Promise<number | undefined> {
    const file = await this.#open(digest)
    if (!file) return undefined
    const { size } = await file.stat().finally(() => file.close())
    return size
  }

  /** Its place, the place during a deletion, and its place again if the deletion was cancelled. */
  async #open(digest: Digest): Promise<FileHandle | undefined> {
    for (const path of [this.#path(digest), this.#leaving(digest), this.#path(digest)]) {
      const file = await open(path, 'r').catch(absent)
      if (file) return file
    }
    return undefined
  }

  async delete(digest: Digest, { unlessStoredSince }: { unlessStoredSince?: Date } = {}): Promise<boolean> {
    const path = this.#path(digest)
    const leaving = this.#leaving(digest)
    await mkdir(join(leaving, '..'), { recursive: true })
    // Moved first: a concurrent `put` now creates a new file, so the age of this one no longer changes.
    const found = await rename(path, leaving).then(() => stat(leaving), absent)
    if (!found) return false
    if (unlessStoredSince && found.mtime >= unlessStoredSince) {
      await rename(leaving, path)
      return false
    }
    await rm(leaving)
    return true
  }

  async tidy(before: Date): Promise<void> {
    for (const name of await namesIn(join(this.#folder, 'leaving'))) {
      const digest = parseDigest(name)
      if (!digest) continue
      // Does not overwrite a file stored since, which is younger.
      await link(this.#leaving(digest), this.#path(digest)).catch(present)
      await rm(this.#leaving(digest))
    }
    for (const name of await namesIn(join(this.#folder, 'tmp'))) {
      const path = join(this.#folder, 'tmp', name)
      const facts = await stat(path).catch(absent)
      if (facts && (facts.mtime < before || isOwnerGone(name))) await rm(path, { force: true })
    }
  }

  async *list(after = ''): AsyncIterable<StoredBlob & { readonly storedAt: Date }> {
    const root = join(this.#folder, 'sha256')
    const inOrder = async (folder: string) => (await namesIn(folder)).sort()
    // A crash may have left wanted ones there, which a move or a backup must not miss.
    const leaving = await inOrder(join(this.#folder, 'leaving'))
    for (const first of await inOrder(root)) {
      if (first < after.slice(0, 2)) continue
      for (const second of await inOrder(join(root, first))) {
        if (first + second < after.slice(0, 4)) continue
        const left = leaving.filter((name) => name.startsWith(first + second))
        const names = new Set([...(await inOrder(join(root, first, second))), ...left])
        for (const name of left.length > 0 ? [...names].sort() : names) {
          const digest = name > after ? parseDigest(name) : undefined
          const facts = digest && (await this.#facts(digest))
          if (digest && facts?.isFile()) yield { digest, sizeBytes: facts.size, storedAt: facts.mtime }
        }
      }
    }
  }

  async needsChecks(): Promise<boolean> {
    return true
  }

  async #facts(digest: Digest): Promise<Stats | undefined> {
    return (await stat(this.#path(digest)).catch(absent)) ?? (await stat(this.#leaving(digest)).catch(absent))
  }

  async link(): Promise<undefined> {}

  async countUnknown(): Promise<number> {
    return 0
  }

  async ping(): Promise<void> {
    // The first blob creates the folder.
    await stat(this.#folder).catch(absent)
  }

  async probe(): Promise<void> {
    // Made here, perhaps by another user, folders could be closed to the service.
    if (!(await stat(this.#folder).catch(absent))) return this.#requireWritableParent()
    const path = join(this.#folder, `probe-${randomUUID()}`)
    const bytes = randomBytes(64)
    try {
      await writeFile(path, bytes, { flag: 'wx', mode: 0o600, flush: true })
      if (!(await readFile(path)).equals(bytes)) throw new Error('reading does not return what was written')
      await rm(path)
    } catch (cause) {
      throw new Failure('unavailable', `cannot write to ${this.#folder}: ${(cause as Error).message}`, { cause })
    }
  }

  /** Fails unless the folder, which does not exist, can be created. */
  async #requireWritableParent(): Promise<void> {
    let parent = dirname(this.#folder)
    while (!isThere(parent)) parent = dirname(parent)
    try {
      if (!(await stat(parent)).isDirectory()) throw new Error(`${parent} is not a folder`)
      await access(parent, constants.W_OK | constants.X_OK)
    } catch (cause) {
      throw new Failure('unavailable', `cannot create ${this.#folder}: ${(cause as Error).message}`, { cause })
    }
  }

  #path(digest: Digest): string {
    return join(this.#folder, 'sha256', digest.slice(0, 2), digest.slice(2, 4), digest)
  }

  #leaving(digest: Digest): string {
    return join(this.#folder, 'leaving', digest)
  }
}

const present = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EEXIST') throw error
}

const absent = missingAs(undefined)
