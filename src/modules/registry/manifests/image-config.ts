import { buffer } from 'node:stream/consumers'
import type { Ctx } from '../../../api/ctx.ts'
import type { LinkedBlob } from '../blobs/queries.ts'

/** Larger configurations are not read; those of images have some kilobytes. */
const maxBytes = 4 * 1024 * 1024

/** When an image was built, as its configuration says, in ISO 8601; null if it does not. */
export async function creationTimeOf({ blobs }: Ctx, { stored, size }: LinkedBlob): Promise<string | null> {
  if (size > maxBytes) return null
  const blob = await blobs.get(stored)
  if (!blob) return null
  try {
    const config = JSON.parse((await buffer(blob.body)).toString())
    return timeOf(config?.created)
  } catch {
    // The content is that of the client; an image with it can be pulled.
    return null
  }
}

/** Times outside these years are none that a client can show. */
function timeOf(value: unknown): string | null {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}T/.test(value)) return null
  const time = new Date(value)
  if (Number.isNaN(time.getTime())) return null
  const year = time.getUTCFullYear()
  return year >= 1 && year <= 9999 ? time.toISOString() : null
}
