import { randomUUID } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy'
import { ParameterError } from '../../../api/params/parameter-error.ts'
import { UploadedFile } from '../../../api/params/uploaded-file.ts'
import { unauthenticated } from '../../../kernel/failure.ts'
import { ownerMark } from '../../../kernel/owner-mark.ts'
import { addField, emptyHash } from './brackets.ts'
import { type BodyLimits, maximumFields } from './limits.ts'
import { cutShort, tooLarge } from './read-bytes.ts'
import type { ParsedBody } from './source.ts'
import { decodeUtf8, tooManyFields } from './urlencoded.ts'

type Part = { name: string; stream: BusboyFileStream; value: Promise<string | UploadedFile> }

/**
 * Reads a multipart form: text into memory, files to `tmpDir` as they arrive, with back-pressure from the disk. Deletes the
 * temporary files on any failure.
 */
export async function readMultipart(
  stream: Readable,
  contentType: string,
  { limits, tmpDir }: { limits: BodyLimits; tmpDir: string },
): Promise<ParsedBody> {
  const form = new MultipartForm(limits, tmpDir)
  try {
    await form.receive(stream, startParser(contentType, limits.fields ?? maximumFields))
    const params = emptyHash()
    // In the order of the form, on which arrays of hashes depend.
    for (const part of form.parts) addField(params, part.name, await part.value)
    return { params, cleanup: () => form.cleanup(), [Symbol.asyncDispose]: () => form.cleanup() }
  } catch (error) {
    await form.cleanup()
    throw error
  }
}

function startParser(contentType: string, maximumParts: number): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      // The bytes of text parts are needed to check for UTF-8; a part with a file name is a file.
      isPartAFile: () => true,
      preservePath: true,
      limits: { parts: maximumParts, headerSize: 16 * 1024, headerPairs: 32 },
    })
  } catch (error) {
    throw new ParameterError('multipart form has no boundary', { cause: error })
  }
}

/** One form while it is received. */
class MultipartForm {
  readonly parts: Part[] = []
  readonly #limits: BodyLimits
  readonly #tmpDir: string
  readonly #paths: string[] = []
  readonly #bytesOfFields = new Map<string, number>()
  #textBytes = 0
  #fail: (error: unknown) => void = () => {}

  constructor(limits: BodyLimits, tmpDir: string) {
    this.#limits = limits
    this.#tmpDir = tmpDir
  }

  /** Settles when all parts have been received and written, or at the first failure. */
  async receive(stream: Readable, parser: BusboyInstance): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const onEnd = (): void => void stream.off('close', onCut)
      const onCut = (cause?: unknown): void => this.#fail(cutShort(cause))
      this.#fail = (error) => {
        stream.unpipe(parser)
        stream.off('close', onCut)
        // Discards the rest of the body; `onCut` stays to ignore its errors.
        stream.resume()
        reject(error)
      }
      let isEmpty = true
      let received = 0
      stream.on('data', (chunk: Buffer) => {
        isEmpty = false
        received += chunk.length
        // Without files, everything is text, part headers and skipped parts.
        if (this.#limits.files === 0 && received > 2 * this.#limits.bytes) this.#fail(tooLarge())
      })
      parser.on('error', (cause) => {
        // Compat: clients that send the content type with an empty body.
        if (isEmpty) resolve()
        else this.#fail(new ParameterError('message body does not match declared format', { cause }))
      })
      parser.on('partsLimit', () => this.#fail(tooManyFields(this.#limits.fields ?? maximumFields)))
      parser.on('file', (name, part, filename, _encoding, type) => this.#receivePart(name, part, filename, type))
      parser.on('finish', resolve)
      if (stream.destroyed) onCut()
      else stream.on('error', onCut).on('close', onCut).on('end', onEnd).pipe(parser)
    })
    await Promise.all(this.parts.map((part) => part.value))
  }

  /** Deletes the files that were not moved. */
  async cleanup(): Promise<void> {
    for (const { stream } of this.parts) stream.destroy()
    // Waits for the writers first, which would create the files again.
    await Promise.allSettled(this.parts.map((part) => part.value))
    await Promise.all(this.#paths.map((path) => rm(path, { force: true })))
  }

  #receivePart(name: string | undefined, part: BusboyFileStream, filename: string | undefined, type: string): void {
    part.on('error', () => {})
    // Browsers send a part with an empty file name for a file that was not chosen.
    if (name === undefined || name === '' || filename === '') {
      part.on('data', (chunk: Buffer) => {
        this.#textBytes += chunk.length
        if (this.#textBytes > this.#limits.bytes) this.#fail(tooLarge())
      })
      return
    }
    const value = filename === undefined ? this.#receiveText(part) : this.#receiveFile(part, name, filename, type)
    // Awaited later; handled here so that a failure is not an unhandled rejection until then.
    value.catch((error: unknown) => this.#fail(error))
    this.parts.push({ name, stream: part, value })
  }

  async #receiveText(part: BusboyFileStream): Promise<string> {
    const chunks: Buffer[] = []
    for await (const chunk of part) {
      chunks.push(chunk)
      this.#textBytes += chunk.length
      if (this.#textBytes > this.#limits.bytes) throw tooLarge()
    }
    return decodeUtf8(Buffer.concat(chunks))
  }

  async #receiveFile(
    part: BusboyFileStream,
    fieldName: string,
    filename: string,
    contentType: string,
  ): Promise<UploadedFile> {
    const path = join(this.#tmpDir, `upload-${ownerMark()}-${randomUUID()}`)
    this.#paths.push(path)
    if (this.#limits.files === 0) throw unauthenticated()
    if (this.#paths.length > this.#limits.files) throw new ParameterError('too many files')
    await mkdir(this.#tmpDir, { recursive: true })
    const limitBytes = this.#limits.fileBytes(fieldName)
    const file = await open(path, 'wx', 0o600)
    // Of all files of the field together: the next one begins while this one is being written.
    const bytesOfFields = this.#bytesOfFields
    let sizeBytes = 0
    await pipeline(
      part,
      async function* count(source: AsyncIterable<Buffer>) {
        for await (const chunk of source) {
          sizeBytes += chunk.length
          const ofField = (bytesOfFields.get(fieldName) ?? 0) + chunk.length
          if (ofField > limitBytes) throw tooLarge()
          bytesOfFields.set(fieldName, ofField)
          yield chunk
        }
      },
      file.createWriteStream(),
    )
    return new UploadedFile({ fieldName, filename: baseName(filename), contentType, path, sizeBytes })
  }
}

/** Some browsers, and attackers, send a whole path. */
const baseName = (filename: string): string => {
  const name = filename.slice(Math.max(filename.lastIndexOf('/'), filename.lastIndexOf('\\')) + 1)
  return name === '.' || name === '..' ? '' : name
}
