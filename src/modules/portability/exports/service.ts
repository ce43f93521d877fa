import type { Ctx } from '../../../api/ctx.ts'
import { disposition } from '../../../api/disposition.ts'
import type { RawBody, Reply } from '../../../api/endpoint.ts'
import type { Holder } from '../../../db/portable/relation.ts'
import { enqueue } from '../../../jobs/job.ts'
import { Failure, invalidFields, tooManyRequests } from '../../../kernel/failure.ts'
import { countHit } from '../../../settings/queries.ts'
import { guardUrl } from '../../instance/index.ts'
import { exportArchive } from './jobs.ts'
import { uploadPurpose } from './purpose.ts'
import { findFinished, insertRequest, saveUpload } from './queries.ts'
import { uploadRules } from './upload.ts'

/** Limits per user. Source: supplement to the API documents, 1.10. */
const starts = { hits: 1, seconds: 300 }
const downloads = { hits: 10, seconds: 600 }

/** Counts a call of the user, and throws `rate_limited` beyond the limit. */
export async function limit(ctx: Ctx, key: string, { hits, seconds }: typeof starts): Promise<void> {
  if ((await countHit(ctx.db, `${key}:${ctx.actor!.id}`, seconds)).hits > hits) throw tooManyRequests()
}

/** Throws `404 Not Found` if an administrator has disabled exports of projects. */
export function requireProjectExports({ settings }: Ctx): void {
  if (!settings.project_export_enabled) throw new Failure('not_found', 'Not Found')
}

export type ExportInput = {
  readonly description?: string | undefined
  readonly upload?: { readonly url: string; readonly http_method: string } | undefined
}

/** Starts an export. Those of the same project take turns. */
export async function startExport(ctx: Ctx, holder: Holder, { description, upload }: ExportInput): Promise<void> {
  const method = upload && methodOf(upload.http_method)
  if (upload) {
    const guarded = await guardUrl(ctx, upload.url, uploadRules)
    if ('blocked' in guarded) throw invalidFields({ url: [`is blocked: ${guarded.blocked}`] })
  }
  await limit(ctx, `${holder.of}_export`, starts)
  await ctx.transaction(async (tx) => {
    const id = await insertRequest(tx, holder, { userId: ctx.actor!.id, description: description ?? null })
    // The check of the URL and the insert wait.
    await tx.requirePermission?.()
    if (upload) await saveUpload(tx, id, ctx.secrets.seal(upload.url, uploadPurpose(id)), method!)
    // Ids of groups are negative here: a group and a project with the same id do not wait for one another.
    await enqueue(tx, exportArchive, { requestId: id, turn: holder.of === 'group' ? -holder.id : holder.id })
  })
}

function methodOf(text: string): 'PUT' | 'POST' {
  if (text === 'PUT' || text === 'POST') return text
  throw invalidFields({ http_method: ['invalid. Only PUT and POST methods allowed.'] })
}

/** Opens the finished archive of a project or group. */
export async function openExport(ctx: Ctx, reply: Reply, holder: Holder): Promise<RawBody> {
  await limit(ctx, `${holder.of}_export_download:${holder.id}`, downloads)
  const finished = await findFinished(ctx.db, holder, { isAdministrator: ctx.actor!.admin })
  const blob = finished && (await ctx.blobs.get(finished.digest))
  if (!finished || !blob) throw new Failure('not_found', 'Not found or has expired')
  reply.header('content-disposition', disposition('attachment', finished.filename))
  return { ...blob, contentType: 'application/gzip' }
}
