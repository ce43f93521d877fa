import type { Readable } from 'node:stream'
import { ParameterError } from '../../../api/params/parameter-error.ts'
import { Failure } from '../../../kernel/failure.ts'

/** `413 Request Entity Too Large` */
export const tooLarge = (): Failure => new Failure('too_large', 'Request Entity Too Large')

/** The client disconnected in the middle of the body, so the response will not be read. */
export const cutShort = (cause?: unknown): ParameterError => new ParameterError('message body is incomplete', { cause })

/**
 * Reads the whole body into memory. Fails with `too_large` as soon as it exceeds `limitBytes`, and with any error that
 * `inspect` throws for a chunk; then discards the rest, so that a client that reads only after writing gets the response.
 */
export function readBytes(
  stream: Readable,
  limitBytes: number,
  inspect: (chunk: Buffer) => void = () => {},
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (stream.destroyed && !stream.readableEnded) {
      reject(cutShort())
      return
    }
    const chunks: Buffer[] = []
    let sizeBytes = 0
    const onData = (chunk: Buffer): void => {
      sizeBytes += chunk.length
      try {
        if (sizeBytes > limitBytes) throw tooLarge()
        inspect(chunk)
        chunks.push(chunk)
      } catch (error) {
        stop()
        // An error while the rest is discarded must not end the process.
        stream.on('error', () => {})
        stream.resume()
        reject(error)
      }
    }
    const onEnd = (): void => {
      stop()
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, sizeBytes))
    }
    const onCut = (cause?: unknown): void => {
      stop()
      reject(cutShort(cause))
    }
    const stop = (): void => {
      stream.off('data', onData).off('end', onEnd).off('error', onCut).off('close', onCut)
    }
    stream.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut)
  })
}
