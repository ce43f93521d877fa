import { Readable } from 'node:stream'
import type { RawParams } from '../../../api/params/raw.ts'
import { emptyHash } from './brackets.ts'
import { JsonShape, parseJson } from './json.ts'
import { readMultipart } from './multipart.ts'
import { atPace, usualPace } from './pace.ts'
import { readBytes, tooLarge } from './read-bytes.ts'
import { announcesBody, type BodySource, type ParsedBody } from './source.ts'
import { UnsupportedContent } from './unsupported-content.ts'
import { parseUrlencoded } from './urlencoded.ts'

/** Reads a body; fails with `timed_out` (408) if it is slower than the pace of its limits. Other failures: see `read`. */
export function readBody(source: BodySource): Promise<ParsedBody> {
  const { body, limits } = source
  return Buffer.isBuffer(body) ? read(source) : atPace(body, limits.pace ?? usualPace, () => read(source))
}

/**
 * Reads a JSON, form or multipart body, whatever the method. Fails with `ParameterError` (400), `UnsupportedContent` (415)
 * or a `too_large` failure (413), after deleting its temporary files. After a failure the rest of the body is drained, so the
 * response should close the connection.
 */
async function read(source: BodySource): Promise<ParsedBody> {
  const { headers, body, limits } = source
  const encoding = (oneValue(headers['content-encoding']) ?? 'identity').trim().toLowerCase()
  if (encoding !== 'identity' && announcesBody(headers)) throw new UnsupportedContent('encoding', encoding)
  const header = oneValue(headers['content-type']) ?? ''
  const contentType = header.split(';', 1)[0]!.trim().toLowerCase()
  if (contentType === 'multipart/form-data') {
    return readMultipart(Buffer.isBuffer(body) ? Readable.from([body], { objectMode: false }) : body, header, source)
  }
  // Compat: a body without a content type is read as a form.
  const isForm = contentType === 'application/x-www-form-urlencoded' || contentType === ''
  if (!isForm && !isJson(contentType)) {
    if (Buffer.isBuffer(body) ? body.length === 0 : !announcesBody(headers)) return withoutFiles(emptyHash())
    if (readsOnly(source.method)) return withoutFiles(emptyHash())
    throw new UnsupportedContent('type', contentType)
  }
  if (Number(oneValue(headers['content-length'])) > limits.bytes) throw tooLarge()
  const shape = new JsonShape(limits.values)
  const inspect = (chunk: Buffer): void => (isForm ? undefined : shape.push(chunk))
  const bytes = Buffer.isBuffer(body) ? body : await readBytes(body, limits.bytes, inspect)
  if (bytes.length > limits.bytes) throw tooLarge()
  if (Buffer.isBuffer(body)) inspect(body)
  return withoutFiles(isForm ? parseUrlencoded(bytes.toString('latin1'), limits.fields) : parseJson(bytes))
}

const isJson = (contentType: string): boolean =>
  contentType === 'application/json' || (contentType.startsWith('application/') && contentType.endsWith('+json'))

/** Methods for which a body of an unknown type is ignored. */
const readsOnly = (method: string): boolean => method === 'GET' || method === 'HEAD' || method === 'DELETE'

const oneValue = (header: string | readonly string[] | undefined): string | undefined =>
  typeof header === 'string' ? header : header?.[0]

function withoutFiles(params: RawParams): ParsedBody {
  const cleanup = async (): Promise<void> => {}
  return { params, cleanup, [Symbol.asyncDispose]: cleanup }
}
