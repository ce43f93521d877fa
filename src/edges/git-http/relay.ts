import type { IncomingMessage } from 'node:http'
import type { Duplex, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { giveBack } from '../../git/sharing/block-pool.ts'
import { Failure } from '../../kernel/failure.ts'
import type { Exchange, Headers } from '../http/answer.ts'
import { atPaceOfClient, type BodyPace } from '../http/body/pace.ts'
import { disconnectSignal } from '../http/disconnect.ts'

/**
 * Relays between client and git with back-pressure in both directions. Starts the response with git's first output, and leaves
 * it open. Rejects if the request is malformed, whatever git answered; does not reject if the client disconnects.
 */
export async function relay(exchange: Exchange, stream: Duplex, headers: Headers, pace: BodyPace): Promise<void> {
  const { req, res } = exchange
  const signal = disconnectSignal(exchange)
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  let broken: unknown
  let isSent = false
  const send = async () => {
    try {
      const body = atPaceOfClient(bodyOf(req), pace)
      let surplus = 0
      for await (const chunk of isCompressed(req) ? lastIfValid(body) : body) {
        // Reads the rest even after git has finished: only the end of a compressed body shows whether it was valid.
        if (stream.readableEnded) {
          surplus += chunk.length
          // A few bytes may be compressed to a thousandth. The server discards the rest as they are.
          if (isCompressed(req) && surplus > maxSurplusBytes) break
          continue
        }
        // What was refused is not decompressed. The server discards the rest before the next request on the connection.
        if (stream.destroyed) break
        if (!stream.write(chunk)) await drained(stream, signal)
      }
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (code.startsWith('Z_')) broken = new Failure('invalid', 'The body is not what its Content-Encoding says: gzip')
      else if (code !== 'ECONNRESET') broken = error
    } finally {
      isSent = true
      stream.end()
    }
  }
  const pass = async (chunk: Buffer) => {
    if (!broken && !signal.aborted && !res.write(chunk, () => giveBack(chunk))) await drained(res, signal)
  }
  const answer = async () => {
    // Only the end of a compressed body shows whether it was complete; until then, git's output is buffered up to a limit.
    const held: Buffer[] = []
    let heldBytes = 0
    let isHolding = isCompressed(req)
    const sendHeld = async () => {
      isHolding = false
      for (const chunk of held.splice(0)) await pass(chunk)
    }
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      held.push(chunk)
      heldBytes += chunk.length
      if (!isHolding || isSent || heldBytes > maxHeldBytes) await sendHeld()
    }
    await sending
    await sendHeld()
  }
  const sending = send()
  await Promise.all([sending, answer()])
  if (broken) throw broken
}

const isCompressed = (req: IncomingMessage): boolean => /^(x-)?gzip$/i.test(req.headers['content-encoding'] ?? '')

/** Whether the body is encoded in a way that `relay` does not decode. */
export const hasOtherEncoding = (req: IncomingMessage): boolean =>
  !isCompressed(req) && !/^(identity)?$/i.test(req.headers['content-encoding'] ?? '')

/** More than git sends before it has read a negotiation of 16,000 commits. */
const maxHeldBytes = 2 * 1024 * 1024

/** Compressed bytes that git does not need are decompressed up to this size. */
const maxSurplusBytes = 16 * 1024 * 1024

/** Each chunk once another one has come, or the end: git acts on nothing of which the end is broken. */
async function* lastIfValid(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let last: Buffer | undefined
  for await (const chunk of body) {
    if (last) yield last
    last = chunk
  }
  if (last) yield last
}

/** The body, decompressed if necessary. Does not destroy the request at its end, which would close the connection. */
function bodyOf(req: IncomingMessage): AsyncIterable<Buffer> {
  const body = req.iterator({ destroyOnReturn: false })
  if (!isCompressed(req)) return body
  const gunzip = createGunzip()
  // The reader gets the error.
  pipeline(body, gunzip).catch(() => {})
  return gunzip
}

/** Resolves when the stream drains, or when it closes or the client disconnects. */
const drained = (stream: Writable, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const go = () => {
      stream.off('drain', go).off('close', go)
      signal.removeEventListener('abort', go)
      resolve()
    }
    if (stream.destroyed || signal.aborted) return resolve()
    stream.on('drain', go).on('close', go)
    signal.addEventListener('abort', go)
  })
