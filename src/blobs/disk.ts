import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, opendir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { type BlobStore, type Digest, parseDigest, type StoredBlob } from './blob-store.ts'

/*
 *     <folder>/
 *       tmp/<uuid>              being written
 *       sha256/ab/cd/abcd…      whole, durable, named by its digest
 */

/** Blobs as files of one folder. */
export class DiskBlobs implements BlobStore {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  async put(source: Readable): Promise<StoredBlob> {
    const unfinished = join(this.#folder, 'tmp')
    await mkdir(unfinished, { recursive: true })
    const temporary = join(unfinished, randomUUID())
    const hash = createHash('sha256')
    let sizeBytes = 0
    try {
      const file = await open(temporary, 'wx', 0o640)
      try {
        for await (const chunk of source as AsyncIterable<Buffer>) {
          hash.update(chunk)
          sizeBytes += chunk.length
          await file.writeFile(chunk)
        }
        await file.sync()
      } finally {
        await file.close()
      }
      const digest = hash.digest('hex') as Digest
      await this.#place(temporary, digest)
      return { digest, sizeBytes }
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  }

  async #place(temporary: string, digest: Digest): Promise<void> {
    const path = this.#path(digest)
    if (await this.has(digest)) {
      // A collection that is about to take it sees that somebody wants it again.
      await utimes(path, new Date(), new Date())
      await rm(temporary)
      return
    }
    const folder = join(path, '..')
    await mkdir(folder, { recursive: true })
    await rename(temporary, path)
    const directory = await open(folder, 'r')
    await directory.sync().finally(() => directory.close())
  }

  async get(
    digest: Digest,
    range?: { start: number; end: number },
  ): Promise<{ sizeBytes: number; body: Readable } | undefined> {
    const file = await open(this.#path(digest), 'r').catch(absent)
    if (!file) return undefined
    const { size } = await file.stat()
    return { sizeBytes: size, body: file.createReadStream(range ?? {}) }
  }

  has(digest: Digest): Promise<boolean> {
    return stat(this.#path(digest)).then(
      () => true,
      () => false,
    )
  }

  async delete(digest: Digest): Promise<void> {
    await rm(this.#path(digest), { force: true })
  }

  async *list(): AsyncIterable<StoredBlob & { readonly storedAt: Date }> {
    const root = await opendir(join(this.#folder, 'sha256'), { recursive: true }).catch(absent)
    if (!root) return
    for await (const entry of root) {
      const digest = entry.isFile() ? parseDigest(entry.name) : undefined
      const facts = digest && (await stat(this.#path(digest)).catch(absent))
      if (digest && facts) yield { digest, sizeBytes: facts.size, storedAt: facts.mtime }
    }
  }

  #path(digest: Digest): string {
    return join(this.#folder, 'sha256', digest.slice(0, 2), digest.slice(2, 4), digest)
  }
}

const absent = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error
}
