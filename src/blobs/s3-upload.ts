import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { Failure } from '../kernel/failure.ts'
import { type Digest, type StoredBlob, unexpected } from './blob-store.ts'
import { PartFilling, releasePart, smallestPart } from './part-buffers.ts'
import type { Part, S3Objects } from './s3-client.ts'

const mebibyte = 1024 * 1024

/** Maximum number of parts in the protocol. */
const maxParts = 10_000
const largestPart = 64 * mebibyte

/** Parts of all uploads of this process that are sent while their uploads already read the next one. */
const maxExtraParts = 16
let extraParts = 0

/** Concurrent parts of one upload. */
const maxPartsAtOnce = 4

/** What happens around the bytes. */
export type UploadSteps = {
  /** Before the first request. */
  readonly begin: () => Promise<unknown>
  /** Before each part; false if the upload must end. */
  readonly goOn: () => Promise<boolean>
  /** The store has nothing of the upload. */
  readonly undone: () => Promise<unknown>
}

const partBytesFor = ({ sizeBytes }: StoredBlob): number =>
  Math.max(smallestPart, Math.ceil(sizeBytes / maxParts / mebibyte) * mebibyte)

const tooLarge = () => new Failure('too_large', 'The file is too large for the object storage')

/**
 * Sends a stream to the object `key`, which exists, complete and verified, when this resolves. Reads the stream once, and has one
 * part of it in memory, or two while the process has room. Destroys the stream if it fails.
 */
export async function upload(
  objects: S3Objects,
  key: string,
  source: Readable,
  expected: StoredBlob | undefined,
  steps: UploadSteps,
): Promise<StoredBlob> {
  // The reader of the stream gets the error. Until reading begins, an error without a listener would end the process.
  source.on('error', () => {})
  const parts = new Parts(objects, key, source, steps)
  try {
    const partBytes = expected ? partBytesFor(expected) : smallestPart
    if (partBytes > largestPart) throw tooLarge()
    const hash = createHash('sha256')
    let sizeBytes = 0
    let part = new PartFilling(partBytes)
    for await (const chunk of source as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length
      if (expected && sizeBytes > expected.sizeBytes) throw unexpected()
      hash.update(chunk)
      for (let rest = part.add(chunk); rest.length > 0; rest = part.add(rest)) {
        // The last part is sent when the bytes are verified.
        await parts.send(part.take())
        part = new PartFilling(partBytes)
      }
    }
    const sha256 = hash.digest()
    const digest = sha256.toString('hex') as Digest
    if (expected && (digest !== expected.digest || sizeBytes !== expected.sizeBytes)) throw unexpected()
    const last = part.take()
    if (parts.isEmpty) {
      await steps.begin()
      await objects.put(key, last, sha256.toString('base64'))
      releasePart(last)
    } else {
      await parts.send(last)
      await parts.complete(sizeBytes)
    }
    return { digest, sizeBytes }
  } catch (error) {
    // Even if nothing was read: the source may hold an open file.
    source.destroy()
    const reason = parts.error ?? error
    await parts.abort()
    throw reason
  }
}

/** The parts of one upload. */
class Parts {
  readonly #objects: S3Objects
  readonly #key: string
  readonly #source: Readable
  readonly #steps: UploadSteps
  readonly #sending = new Set<Promise<void>>()
  readonly #done: Part[] = []
  #count = 0
  #uploadId: string | undefined
  /** Whether the store may have made an object of the parts. */
  #mayBeWhole = false
  /** Why a part failed. */
  error: unknown

  constructor(objects: S3Objects, key: string, source: Readable, steps: UploadSteps) {
    this.#objects = objects
    this.#key = key
    this.#source = source
    this.#steps = steps
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  /** Resolves when the next part may be read. */
  async send(body: Buffer): Promise<void> {
    if (this.#count === maxParts) throw tooLarge()
    const number = ++this.#count
    if (this.#uploadId === undefined) {
      await this.#steps.begin()
      this.#uploadId = await this.#objects.begin(this.#key)
    } else if (!(await this.#steps.goOn())) throw new Failure('timed_out', 'The upload took too long')
    while (this.#sending.size >= maxPartsAtOnce) await Promise.race(this.#sending)
    const isExtra = extraParts < maxExtraParts
    if (isExtra) extraParts++
    const sent = this.#objects
      .putPart(this.#key, this.#uploadId, number, body)
      .then(
        (part) => {
          this.#done.push(part)
          releasePart(body)
        },
        (error) => {
          this.error ??= error
          // Ends the reading of a client that sends slowly.
          this.#source.destroy(error)
        },
      )
      .finally(() => {
        if (isExtra) extraParts--
        this.#sending.delete(sent)
      })
    this.#sending.add(sent)
    if (!isExtra) await sent
    if (this.error) throw this.error
  }

  async complete(sizeBytes: number): Promise<void> {
    await Promise.all(this.#sending)
    if (this.error) throw this.error
    this.#mayBeWhole = true
    const inOrder = this.#done.toSorted((a, b) => a.PartNumber! - b.PartNumber!)
    await this.#objects.complete(this.#key, this.#uploadId!, inOrder, sizeBytes)
  }

  /** Removes the parts from the store; what fails, and an object whose completion was not confirmed, is left to tidying. */
  async abort(): Promise<void> {
    if (this.#uploadId === undefined) return
    // A part that arrives after the upload has been aborted would stay.
    await Promise.all(this.#sending)
    const uploadId = this.#uploadId
    await this.#objects
      .abort(this.#key, uploadId)
      .then(() => (this.#mayBeWhole ? undefined : this.#steps.undone()))
      .catch(() => {})
  }
}
