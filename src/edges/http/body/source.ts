import type { Readable } from 'node:stream'
import type { RawParams } from '../../../api/params/raw.ts'
import type { BodyLimits } from './limits.ts'

/** A request with a body, of whichever server. */
export type BodySource = {
  method: string
  /** Lower-case names; only those of the body are read. */
  headers: { readonly [name: string]: string | readonly string[] | undefined }
  body: Readable | Buffer
  limits: BodyLimits
  /** Folder for files; made when the first one comes. */
  tmpDir: string
}

/** Parameters of a body, and the temporary files among them, which `cleanup` deletes (twice does no harm). */
export type ParsedBody = AsyncDisposable & {
  params: RawParams
  cleanup: () => Promise<void>
}
