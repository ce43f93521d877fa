import type { Readable } from 'node:stream'
import type { RawParams } from '../../../api/params/raw.ts'
import type { BodyLimits } from './limits.ts'

/** A request with a body, independent of the server. */
export type BodySource = {
  method: string
  /** Lower-case names; only headers about the body are used. */
  headers: { readonly [name: string]: string | readonly string[] | undefined }
  body: Readable | Buffer
  limits: BodyLimits
  /** Folder for files; created with the first one. */
  tmpDir: string
}

/** Whether the headers of a request announce a body that is not empty. */
export const announcesBody = (headers: BodySource['headers']): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** Parameters of a body, including temporary files, which `cleanup` deletes. Idempotent. */
export type ParsedBody = AsyncDisposable & {
  params: RawParams
  cleanup: () => Promise<void>
}
