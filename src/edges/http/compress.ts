import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib'
import { LRUCache } from 'lru-cache'

export type Encoding = 'br' | 'gzip'

/** Smaller bodies fit into one packet with their headers. */
const minBytes = 1024
/** Larger bodies are sent as they are. */
const maxBytes = 16 * 1024 * 1024
/** Bodies that are compressed at a time; others are sent as they are. Reads of files use the same four threads of libuv. */
const maxAtOnce = 8
/** A larger body takes a thread for more than a few milliseconds: two at a time leave half of the threads to others. */
const largeBytes = 256 * 1024
const maxLargeAtOnce = 2
/** Higher levels cost several times as much for a few percent. */
const brotliQuality = 3
const gzipLevel = 3

/** Smaller bodies are compressed at once, in less than half a millisecond: handing one to a thread costs this process as much. */
const inlineBytes = 32 * 1024

const brotliOptions = (body: Buffer) => ({
  params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
})

type Compressor = { now(body: Buffer): Buffer; inThread(body: Buffer): Promise<Buffer> }

const compressors: Readonly<Record<Encoding, Compressor>> = {
  br: {
    now: (body) => brotliCompressSync(body, brotliOptions(body)),
    inThread: (body) => promisify(brotliCompress)(body, brotliOptions(body)),
  },
  gzip: {
    now: (body) => gzipSync(body, { level: gzipLevel }),
    inThread: (body) => promisify(gzip)(body, { level: gzipLevel }),
  },
}

/** Compressed bodies by encoding and digest. Records and pages that did not change are compressed once. */
const cache = new LRUCache<string, Buffer>({
  maxSize: 4 * 1024 * 1024,
  sizeCalculation: (body, key) => body.length + key.length + 200,
})

/**
 * Whether a response varies by `Accept-Encoding`. Responses that must not be stored contain secrets, such as tokens, and are not
 * compressed: their size would reveal something of the secret to a client that chooses another part of the body.
 */
export const isCompressible = (headers: Readonly<Record<string, string | number>>, sizeBytes: number): boolean =>
  sizeBytes >= minBytes &&
  sizeBytes <= maxBytes &&
  /^(text\/|application\/(json|javascript)\b)/.test(String(headers['content-type'])) &&
  !/\bno-store\b/.test(String(headers['cache-control'] ?? ''))

/** The encoding that the client prefers, of ours; `undefined` if it accepts none. */
export function acceptedEncoding(header: string | string[] | undefined): Encoding | undefined {
  if (header === undefined) return undefined
  const qualities: Record<Encoding, number> = { br: 0, gzip: 0 }
  for (const each of String(header).split(',')) {
    const [, name = '', quality = '1'] = /^\s*([\w*-]+)\s*(?:;\s*q\s*=\s*([\d.]+)\s*)?$/.exec(each.toLowerCase()) ?? []
    const encoding = name === 'x-gzip' ? 'gzip' : name
    if (encoding === 'br' || encoding === 'gzip') qualities[encoding] = Number(quality) || 0
  }
  if (qualities.br === 0 && qualities.gzip === 0) return undefined
  return qualities.br >= qualities.gzip ? 'br' : 'gzip'
}

/** Of large bodies, such as documents, which are sent again and do not change: hashing megabytes takes milliseconds. */
const digests = new WeakMap<Buffer, string>()

function digestOf(body: Buffer): string {
  const known = digests.get(body)
  if (known !== undefined) return known
  const digest = hash('sha256', body, 'base64')
  if (body.length > largeBytes) digests.set(body, digest)
  return digest
}

const running = { small: 0, large: 0 }

/** The compressed body, if it is known or can be made now; `undefined` if too many others are being made. Never rejects. */
export function compressed(body: Buffer, encoding: Encoding): Buffer | Promise<Buffer | undefined> | undefined {
  const key = `${encoding} ${digestOf(body)}`
  const known = cache.get(key)
  if (known) return known
  if (body.length <= inlineBytes) {
    const made = compressors[encoding].now(body)
    cache.set(key, made)
    return made
  }
  const size = body.length > largeBytes ? 'large' : 'small'
  if (running[size] >= (size === 'large' ? maxLargeAtOnce : maxAtOnce)) return undefined
  running[size]++
  return compressors[encoding]
    .inThread(body)
    .then((made) => {
      cache.set(key, made)
      return made
    })
    .catch(() => undefined)
    .finally(() => {
      running[size]--
    })
}
