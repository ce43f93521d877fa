import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { Ctx } from '../../api/ctx.ts'
import type { UploadedFile } from '../../api/params/uploaded-file.ts'
import { notFound } from '../../kernel/failure.ts'
import type { ProjectSubject } from '../projects/subject.ts'
import type { StoredUpload } from './entity.ts'
import { safeFilename } from './filename.ts'
import { insertUpload } from './queries.ts'

const mebibyte = 1024 * 1024

/** Stores a file of a project. `undefined` when it is larger than the setting allows. */
export async function storeUpload(
  ctx: Ctx,
  project: ProjectSubject,
  file: UploadedFile,
): Promise<StoredUpload | undefined> {
  if (file.sizeBytes > ctx.settings.max_attachment_size * mebibyte) return undefined
  const { digest, sizeBytes } = await ctx.blobs.put(createReadStream(file.path))
  const secret = randomBytes(16).toString('hex')
  const filename = safeFilename(file.filename)
  const stored = await ctx.transaction((tx) =>
    insertUpload(tx, project.id, ctx.actor!.id, { secret, filename, digest, size: sizeBytes }),
  )
  if (!stored) throw notFound('Project')
  return { secret, filename, project_full_path: project.full_path }
}
