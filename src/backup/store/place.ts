import { hash, randomUUID } from 'node:crypto'
import { open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { isS3, s3Address, storeName } from '../../blobs/location.ts'
import { makeFolder, syncFolders } from '../../kernel/durable.ts'
import { Failure } from '../../kernel/failure.ts'
import { isDiskFull } from '../../kernel/full-disk.ts'
import { isMissing } from '../../kernel/missing.ts'

/** Where backups are: a folder, or object storage. Keys are like paths; those that end with `~` are unfinished files. */
export interface Place {
  /** For messages. */
  readonly name: string
  /** Replaces what has the key; atomic. Durable after `sync`. */
  put(key: string, bytes: Buffer): Promise<void>
  get(key: string): Promise<Buffer | undefined>
  /** All keys that begin with `below`, in no particular order. */
  keys(below: string): AsyncIterable<string>
  remove(key: string): Promise<void>
  sync(): Promise<void>
  close(): void
}

/** Opens the place at a URL that the settings have accepted. */
export async function openPlace(url: string): Promise<Place> {
  if (!isS3(url)) return new FolderPlace(fileURLToPath(url))
  const { S3Objects } = await import('../../blobs/s3-client.ts')
  return new S3Place(storeName(url), new S3Objects(s3Address(url)))
}

class FolderPlace implements Place {
  readonly name: string
  /** Folders with new entries. */
  readonly #changed = new Set<string>()

  constructor(folder: string) {
    this.name = folder
  }

  async put(key: string, bytes: Buffer): Promise<void> {
    const path = join(this.name, key)
    const unfinished = `${path}.${randomUUID()}~`
    const folder = dirname(path)
    try {
      await makeFolder(folder, 0o700)
      {
        await using file = await open(unfinished, 'wx', 0o600)
        await file.writeFile(bytes)
        await file.sync()
      }
      await rename(unfinished, path)
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => {})
      throw this.#explain(error)
    }
    this.#changed.add(folder)
  }

  async get(key: string): Promise<Buffer | undefined> {
    try {
      return await readFile(join(this.name, key))
    } catch (error) {
      if (isMissing(error)) return undefined
      throw this.#explain(error)
    }
  }

  async *keys(below: string): AsyncIterable<string> {
    const folder = below.slice(0, below.lastIndexOf('/') + 1)
    const entries = await readdir(join(this.name, folder), { withFileTypes: true }).catch((error) => {
      if (isMissing(error)) return []
      throw this.#explain(error)
    })
    for (const entry of entries) {
      const key = `${folder}${entry.name}`
      if (!key.startsWith(below)) continue
      if (entry.isDirectory()) yield* this.keys(`${key}/`)
      else yield key
    }
  }

  async remove(key: string): Promise<void> {
    await rm(join(this.name, key), { force: true })
  }

  async sync(): Promise<void> {
    await syncFolders(this.#changed)
    this.#changed.clear()
  }

  close(): void {}

  #explain(error: unknown): unknown {
    const { code, message } = error as NodeJS.ErrnoException
    if (isDiskFull(error))
      return new Failure('storage_full', `There is no room for backups in ${this.name}.`, { cause: error })
    return code === undefined
      ? error
      : new Failure('unavailable', `Cannot use the folder of backups ${this.name}: ${message}.`, { cause: error })
  }
}

type Objects = {
  put(key: string, body: Buffer, sha256: string): Promise<void>
  get(key: string): Promise<{ body: NodeJS.ReadableStream } | undefined>
  keys(below?: string): AsyncIterable<string[]>
  remove(key: string): Promise<void>
  close(): void
}

class S3Place implements Place {
  readonly name: string
  readonly #objects: Objects

  constructor(name: string, objects: Objects) {
    this.name = name
    this.#objects = objects
  }

  put(key: string, bytes: Buffer): Promise<void> {
    return this.#named(this.#objects.put(key, bytes, hash('sha256', bytes, 'base64')))
  }

  async get(key: string): Promise<Buffer | undefined> {
    return this.#named(this.#objects.get(key).then((found) => found && buffer(found.body)))
  }

  async *keys(below: string): AsyncIterable<string> {
    try {
      for await (const keys of this.#objects.keys(below)) yield* keys
    } catch (error) {
      throw this.#explain(error)
    }
  }

  remove(key: string): Promise<void> {
    return this.#named(this.#objects.remove(key))
  }

  async sync(): Promise<void> {}

  close(): void {
    this.#objects.close()
  }

  #named<T>(work: Promise<T>): Promise<T> {
    return work.catch((error) => {
      throw this.#explain(error)
    })
  }

  #explain(error: unknown): Failure {
    const { reason, message } = error as Error & { reason?: string }
    return new Failure('unavailable', `Cannot use the object storage of backups ${this.name}: ${reason ?? message}.`, {
      cause: error,
    })
  }
}
