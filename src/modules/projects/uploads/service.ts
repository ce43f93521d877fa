import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { Ctx } from '../../../api/ctx.ts'
import { disposition } from '../../../api/disposition.ts'
import type { RawBody, Reply } from '../../../api/endpoint.ts'
import type { UploadedFile } from '../../../api/params/uploaded-file.ts'
import { emit } from '../../../events/log.ts'
import { notFound } from '../../../kernel/failure.ts'
import type { ProjectSubject } from '../projects/subject.ts'
import type { StoredUpload } from './entity.ts'
import { safeFilename } from './filename.ts'
import { shownMediaType } from './media.ts'
import { deleteUpload, findUpload, insertUpload, type UploadName } from './queries.ts'

const mebibyte = 1024 * 1024

/** Stores a file of a project. `undefined` if it exceeds the size limit of the settings. */
export async function storeUpload(
  ctx: Ctx,
  project: ProjectSubject,
  file: UploadedFile,
): Promise<StoredUpload | undefined> {
  if (file.sizeBytes > ctx.settings.max_attachment_size * mebibyte) return undefined
  const { digest, sizeBytes } = await ctx.blobs.put(createReadStream(file.path))
  const secret = randomBytes(16).toString('hex')
  const filename = safeFilename(file.filename)
  const stored = await ctx.transaction(async (tx) => {
    const inserted = await insertUpload(tx, project.id, ctx.actor!.id, { secret, filename, digest, size: sizeBytes })
    // The file may have taken long, and the insert may have waited for the project.
    if (inserted) await tx.requirePermission?.()
    return inserted
  })
  if (!stored) throw notFound('Project')
  return { secret, filename, project_full_path: project.full_path }
}

/** Opens an upload. Pictures and videos are shown inline; other files are downloads. */
export async function openUpload(ctx: Ctx, reply: Reply, project: ProjectSubject, name: UploadName): Promise<RawBody> {
  const upload = await findUpload(ctx.db, project.id, name)
  const blob = upload && (await ctx.blobs.get(upload.digest))
  if (!blob) throw notFound('File')
  const type = shownMediaType(upload.filename)
  reply.header('content-disposition', disposition(type === undefined ? 'attachment' : 'inline', upload.filename))
  reply.header('content-security-policy', "sandbox; default-src 'none'")
  return { ...blob, contentType: type ?? 'application/octet-stream' }
}

/** Deletes a file; texts that link to it stay unchanged. */
export async function removeUpload(ctx: Ctx, project: ProjectSubject, name: UploadName): Promise<void> {
  await ctx.transaction(async (tx) => {
    const removed = await deleteUpload(tx, project.id, name)
    await tx.requirePermission?.()
    if (!removed) throw notFound('File')
    await emit(tx, {
      kind: 'upload_deleted',
      projectId: project.id,
      actorId: ctx.actor!.id,
      payload: { upload_id: removed.id },
    })
  })
}
