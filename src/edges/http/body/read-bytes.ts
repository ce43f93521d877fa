import type { Readable } from 'node:stream'
import { ParameterError } from '../../../api/params/parameter-error.ts'
import { Failure } from '../../../kernel/failure.ts'

/** `413 Request Entity Too Large` */
export const tooLarge = (): Failure => new Failure('too_large', 'Request Entity Too Large')

/** The caller went away, or the connection broke, in the middle of the body. Nobody is left to read the answer. */
export const cutShort = (cause?: unknown): ParameterError => new ParameterError('message body is incomplete', { cause })

/**
 * The whole body in memory. Fails with `too_large` as soon as it is longer than `limitBytes`; what is left of
 * the body is then read and thrown away, so that a client which reads only after writing gets its answer. The same happens
 * with what `inspect`, which gets each piece as it comes, throws.
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
        // A request that breaks while it is thrown away must not end the process.
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
