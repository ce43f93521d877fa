import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Ctx } from '../../../api/ctx.ts'
import type { UploadedFile } from '../../../api/params/uploaded-file.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import { invalidFields } from '../../../kernel/failure.ts'
import { isPicture, largestBytes, safeName, tooBig, unsupported } from './image.ts'

/** An avatar that is stored but does not belong to a record yet. */
export type Avatar = { readonly filename: string; readonly digest: Digest }

const headBytes = 16

async function headOf(path: string): Promise<Buffer> {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/**
 * Checks and stores an uploaded avatar, named `name` in errors. Passes through `undefined` (not sent) and null
 * (remove).
 */
export async function acceptAvatar<T extends UploadedFile | null | undefined>(
  ctx: Ctx,
  file: T,
  name = 'avatar',
): Promise<Avatar | Exclude<T, UploadedFile>> {
  if (file === null || file === undefined) return file as Exclude<T, UploadedFile>
  const { filename, path, sizeBytes } = file as UploadedFile
  if (sizeBytes > largestBytes) throw invalidFields({ [name]: [tooBig] })
  if (!isPicture(filename, await headOf(path))) throw invalidFields({ [name]: [unsupported] })
  const { digest } = await ctx.blobs.put(createReadStream(path))
  return { filename: safeName(filename), digest }
}
