import type { Readable } from 'node:stream'
import type { Ctx } from '../../../api/ctx.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import type { PackedEntry } from '../archive/pack.ts'

/** The entry of a blob, which is opened when it is its turn. */
export const blobEntry = (ctx: Ctx, name: string, digest: Digest, size: number): PackedEntry => ({
  name,
  size,
  open: () => blobBody(ctx, digest),
})

/** The bytes of a blob that a row names. */
export async function blobBody(ctx: Ctx, digest: Digest): Promise<Readable> {
  const found = await ctx.blobs.get(digest)
  if (!found) throw new Error(`the blob ${digest} is missing`)
  return found.body
}
