import type { Ctx } from '../../../api/ctx.ts'
import type { RawBody, Reply } from '../../../api/endpoint.ts'
import { notFound } from '../../../kernel/failure.ts'
import { type AvatarOwner, contentTypeOf, findOwnedAvatar } from '../../namespaces/index.ts'

/** Avatar of a record the caller may see, served safely for embedding in pages; 404 without one. */
export async function openPicture(ctx: Ctx, reply: Reply, owner: AvatarOwner, id: number): Promise<RawBody> {
  const avatar = await findOwnedAvatar(ctx.db, owner, id)
  const blob = avatar && (await ctx.blobs.get(avatar.digest))
  if (!blob) throw notFound('Avatar')
  reply.header('content-disposition', `inline; filename="${avatar.filename}"`)
  reply.header('content-security-policy', "sandbox; default-src 'none'")
  return { ...blob, contentType: contentTypeOf(avatar.filename) }
}
