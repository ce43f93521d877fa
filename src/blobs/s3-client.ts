import type { Readable } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { type LinkedAs, unavailable } from './blob-store.ts'
import type { S3Address } from './location.ts'

/** Limits on one attempt of a request, in milliseconds. */
export type S3Times = {
  readonly connectMs: number
  /** From the first byte of the request to the headers of the response. */
  readonly answerMs: number
  /** Without a byte of a body that is being read. */
  readonly stalledMs: number
}

const usualTimes: S3Times = { connectMs: 3_000, answerMs: 20_000, stalledMs: 30_000 }

/** Joining thousands of parts may take minutes. */
const completeMs = 240_000

/** Each request is repeated twice, on errors of the connection and of the server. All of them may be repeated. */
const attempts = 3

/** Further requests wait for a connection. */
const maxConnections = 1024

/** Seconds for which a link is valid. A download that has begun continues. */
const linkSeconds = 120

const nameOf = (error: unknown): string => (error as Error | undefined)?.name ?? ''

const isMissing = (error: unknown): boolean => ['NoSuchKey', 'NotFound'].includes(nameOf(error))

const silent = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }

/** An upload in parts that is not complete. */
export type Unfinished = { readonly key: string; readonly uploadId: string; readonly initiated: Date | undefined }

export type Part = CompletedPart

/**
 * The objects of one bucket below one prefix, by keys without it. Keys are never used twice, so every request may be repeated.
 * Every method fails with `unavailable` if the store does not answer.
 */
export class S3Objects {
  readonly #client: S3Client
  readonly #bucket: string
  readonly #prefix: string
  readonly times: S3Times

  constructor({ bucket, prefix, endpoint, region, pathStyle, profile }: S3Address, times: S3Times = usualTimes) {
    this.times = times
    this.#bucket = bucket
    this.#prefix = prefix
    const givenRegion = region ?? (endpoint === undefined ? undefined : 'us-east-1')
    this.#client = new S3Client({
      ...(endpoint !== undefined && { endpoint }),
      ...(givenRegion !== undefined && { region: givenRegion }),
      ...(profile !== undefined && { profile }),
      forcePathStyle: pathStyle,
      maxAttempts: attempts,
      // Readers verify the SHA-256 themselves.
      responseChecksumValidation: 'WHEN_REQUIRED',
      logger: silent,
      requestHandler: {
        connectionTimeout: times.connectMs,
        requestTimeout: times.answerMs,
        throwOnRequestTimeout: true,
        // Not shorter than readers may pause; S3Blobs times bodies itself.
        socketTimeout: 300_000,
        logger: silent,
        httpAgent: { maxSockets: maxConnections, keepAlive: true },
        httpsAgent: { maxSockets: maxConnections, keepAlive: true },
      },
    })
  }

  /** The store compares the bytes with `sha256` (base64). */
  async put(key: string, body: Buffer, sha256: string): Promise<void> {
    const command = new PutObjectCommand({ ...this.#at(key), Body: body, ChecksumSHA256: sha256 })
    await this.#request(() => this.#client.send(command))
  }

  /** Begins an upload in parts; its id. */
  async begin(key: string): Promise<string> {
    const command = new CreateMultipartUploadCommand({ ...this.#at(key), ChecksumAlgorithm: 'CRC32' })
    const { UploadId } = await this.#request(() => this.#client.send(command))
    return UploadId!
  }

  /** `number` counts from 1. The store compares the bytes with their checksum. */
  async putPart(key: string, uploadId: string, number: number, body: Buffer): Promise<Part> {
    const command = new UploadPartCommand({
      ...this.#at(key),
      ...{ UploadId: uploadId, PartNumber: number, Body: body, ChecksumAlgorithm: 'CRC32' },
    })
    const { ETag, ChecksumCRC32 } = await this.#request(() => this.#client.send(command))
    return { PartNumber: number, ...(ETag && { ETag }), ...(ChecksumCRC32 && { ChecksumCRC32 }) }
  }

  /** Makes an object of the parts. */
  async complete(key: string, uploadId: string, parts: Part[], sizeBytes: number): Promise<void> {
    const command = new CompleteMultipartUploadCommand({
      ...this.#at(key),
      ...{ UploadId: uploadId, MultipartUpload: { Parts: parts } },
    })
    try {
      await this.#client.send(command, { requestTimeout: completeMs })
    } catch (error) {
      // Another attempt has completed it, and only its answer was lost.
      if (nameOf(error) === 'NoSuchUpload' && (await this.size(key)) === sizeBytes) return
      throw unavailable(error)
    }
  }

  /** Does nothing if the upload has ended. */
  async abort(key: string, uploadId: string): Promise<void> {
    const command = new AbortMultipartUploadCommand({ ...this.#at(key), UploadId: uploadId })
    await this.#request(() =>
      this.#client.send(command).catch((error) => {
        if (nameOf(error) !== 'NoSuchUpload') throw error
      }),
    )
  }

  /** The stream and the number of its bytes; undefined if there is no such object. */
  async get(
    key: string,
    range?: { start: number; end: number },
    signal?: AbortSignal,
  ): Promise<{ body: Readable; length: number | undefined } | undefined> {
    const command = new GetObjectCommand({
      ...this.#at(key),
      ...(range && { Range: `bytes=${range.start}-${range.end}` }),
    })
    return await this.#request(
      () =>
        this.#client
          .send(command, signal && { abortSignal: signal })
          .then(({ Body, ContentLength }) => ({ body: Body as Readable, length: ContentLength }), orMissing),
      signal,
    )
  }

  /** In bytes; undefined if there is no such object. */
  async size(key: string): Promise<number | undefined> {
    const command = new HeadObjectCommand(this.#at(key))
    return await this.#request(() => this.#client.send(command).then(({ ContentLength }) => ContentLength, orMissing))
  }

  /** Does nothing if there is no such object. */
  async remove(key: string): Promise<void> {
    await this.#request(() => this.#client.send(new DeleteObjectCommand(this.#at(key))))
  }

  async *unfinished(): AsyncIterable<Unfinished> {
    let marker: { KeyMarker?: string; UploadIdMarker?: string } = {}
    for (;;) {
      const command = new ListMultipartUploadsCommand({ Bucket: this.#bucket, Prefix: this.#prefix, ...marker })
      const page = await this.#request(() => this.#client.send(command))
      for (const { Key, UploadId, Initiated } of page.Uploads ?? [])
        if (Key && UploadId) yield { key: this.#keyOf(Key), uploadId: UploadId, initiated: Initiated }
      if (!page.IsTruncated || !page.NextKeyMarker) return
      marker = {
        KeyMarker: page.NextKeyMarker,
        ...(page.NextUploadIdMarker && { UploadIdMarker: page.NextUploadIdMarker }),
      }
    }
  }

  /** Pages of at most 1,000 keys, in order, of those that begin with `below`. */
  async *keys(below = ''): AsyncIterable<string[]> {
    let token: string | undefined
    do {
      const command = new ListObjectsV2Command({
        ...{ Bucket: this.#bucket, Prefix: this.#prefix + below },
        ...(token !== undefined && { ContinuationToken: token }),
      })
      const page = await this.#request(() => this.#client.send(command))
      yield (page.Contents ?? []).flatMap(({ Key }) => (Key === undefined ? [] : [this.#keyOf(Key)]))
      token = page.IsTruncated ? page.NextContinuationToken : undefined
    } while (token !== undefined)
  }

  /** A URL for GET of the object for two minutes, with these headers in the response. */
  async link(key: string, { contentType, disposition }: LinkedAs): Promise<string> {
    const command = new GetObjectCommand({
      ...this.#at(key),
      ...{ ResponseContentType: contentType, ResponseContentDisposition: disposition },
      ResponseCacheControl: 'private, max-age=0, no-store',
    })
    return await this.#request(() => getSignedUrl(this.#client, command, { expiresIn: linkSeconds }))
  }

  async ping(): Promise<void> {
    await this.#request(() => this.#client.send(new HeadBucketCommand({ Bucket: this.#bucket })))
  }

  close(): void {
    this.#client.destroy()
  }

  #at(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: this.#prefix + key }
  }

  #keyOf(key: string): string {
    return key.slice(this.#prefix.length)
  }

  /** Throws the reason of `signal` if it has aborted. */
  async #request<T>(send: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    try {
      return await send()
    } catch (error) {
      signal?.throwIfAborted()
      throw unavailable(error)
    }
  }
}

function orMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
}
