import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { within } from '../kernel/late.ts'
import { DamagedBlob, type Digest, unavailable } from './blob-store.ts'

type Expected = {
  readonly length: number
  /** Absent for a part of a blob. */
  readonly digest: Digest | undefined
  /** Absent for files. */
  readonly stalledMs?: number
}

/**
 * The bytes of a blob as a stream that fails instead of ending with fewer or other bytes: the last chunk follows when all are
 * verified. Fails if the store sends nothing for `stalledMs` while the reader waits.
 */
export function verified(body: Readable, expected: Expected): Readable {
  // Reading reports it; until then, an error without a listener would end the process.
  body.on('error', () => {})
  const stream = Readable.from(verifiedChunks(body, expected), { objectMode: false })
  // A generator that waits for the store does not notice that its reader has left.
  stream.once('close', () => body.destroy())
  return stream
}

async function* verifiedChunks(body: Readable, { length, digest, stalledMs }: Expected): AsyncIterable<Buffer> {
  const hash = digest && createHash('sha256')
  const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]()
  let left = length
  let held: Buffer | undefined
  try {
    for (;;) {
      const { done, value } = await (stalledMs === undefined ? chunks.next() : withinTime(chunks.next(), stalledMs))
      if (done) break
      left -= value.length
      if (left < 0) throw new DamagedBlob('the blob has more bytes than were stored')
      hash?.update(value)
      if (held) yield held
      held = value
    }
    if (left > 0) throw new Error(`the blob ended ${left} bytes too early`)
    if (hash && hash.digest('hex') !== digest) throw new DamagedBlob(`the blob ${digest} has other bytes`)
  } catch (error) {
    throw unavailable(error)
  }
  if (held) yield held
}

const withinTime = <T>(work: Promise<T>, ms: number): Promise<T> =>
  within(ms, work, (): never => {
    throw new Error(`the store has sent nothing for ${ms} ms`)
  })
