import type { ServerResponse } from 'node:http'
import type { BlobStore, Digest, StoredBlob } from '../../blobs/blob-store.ts'
import { allHeaders, type Exchange, type Headers, sendBody, sendEmpty } from './answer.ts'
import { disconnectSignal } from './disconnect.ts'
import { parseRange, type Range } from './range.ts'

/**
 * Sends a blob, or the part that `Range` requests, with its digest as ETag; 304 if the client has it. Content with a digest
 * never changes. False if the range is unsatisfiable; nothing has been sent, and the caller sends its own 416.
 */
export async function sendBlob(
  exchange: Exchange,
  blobs: BlobStore,
  { digest, sizeBytes }: StoredBlob,
  headers: Headers,
): Promise<boolean> {
  const asked = exchange.req.headers
  const etag = `"${digest}"`
  const validators: Headers = {
    etag,
    'accept-ranges': 'bytes',
    'content-security-policy': "sandbox; default-src 'none'",
  }
  if (isNamed(asked['if-none-match'], etag)) {
    sendEmpty(exchange, 304, { ...validators, ...headers })
    return true
  }
  const ifRange = asked['if-range']
  const range = ifRange === undefined || ifRange === etag ? parseRange(asked.range, sizeBytes) : undefined
  if (range === 'unsatisfiable') return false
  const length = range ? range.end - range.start + 1 : sizeBytes
  const all: Headers = {
    ...validators,
    ...headers,
    'content-length': length,
    ...(range && { 'content-range': `bytes ${range.start}-${range.end}/${sizeBytes}` }),
  }
  const status = range ? 206 : 200
  if (exchange.req.method !== 'HEAD' && blobs.copyTo && length >= copiedBytes) {
    await copyBlob(exchange, status, { digest, range: range ?? { start: 0, end: sizeBytes - 1 } }, blobs, all)
    return true
  }
  const blob = await blobs.get(digest, range)
  if (!blob) throw new Error(`the blob ${digest} is missing`)
  await sendBody(exchange, status, blob.body, all)
  return true
}

/** Smaller bodies are sent as streams, which need less memory at once. */
const copiedBytes = 512 * 1024

/** As `sendBody`, without a stream. */
async function copyBlob(
  exchange: Exchange,
  status: number,
  { digest, range }: { readonly digest: Digest; readonly range: Range },
  blobs: BlobStore,
  headers: Headers,
): Promise<void> {
  const { res } = exchange
  const signal = disconnectSignal(exchange)
  signal.throwIfAborted()
  const write = (chunk: Buffer) => {
    if (!res.headersSent) res.writeHead(status, allHeaders(exchange, headers))
    return written(res, chunk, signal)
  }
  try {
    if (!(await blobs.copyTo!(digest, range, write))) throw new Error(`the blob ${digest} is missing`)
    res.end()
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}

/** Resolves when the system has taken the bytes. A response that waits behind another one never reports that, if the client disconnects. */
const written = (res: ServerResponse, chunk: Buffer, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const gone = () => reject(signal.reason)
    if (signal.aborted) return gone()
    signal.addEventListener('abort', gone, { once: true })
    res.write(chunk, (error) => {
      signal.removeEventListener('abort', gone)
      if (error) reject(error)
      else resolve()
    })
  })

const isNamed = (header: string | undefined, etag: string): boolean =>
  (header ?? '').split(',').some((each) => ['*', etag, `W/${etag}`].includes(each.trim()))
