import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { enqueue } from '../../../jobs/job.ts'
import { forbidden, invalidFields } from '../../../kernel/failure.ts'
import { type Destination, guardUrl, type Resolve } from '../../instance/index.ts'
import { importFromUrl } from './jobs.ts'
import { urlPurpose } from './purpose.ts'
import { scheduleImport } from './queries.ts'
import { saveImportReport } from './report-queries.ts'
import { importRules } from './rules.ts'

/**
 * Checks an import URL and throws if it is blocked. A host that does not resolve is accepted: the import fails later.
 */
export async function acceptImportUrl(ctx: Ctx, text: string, resolve?: Resolve): Promise<Destination> {
  if (!ctx.settings.import_sources.includes('git')) throw forbidden()
  const guarded = await guardUrl(ctx, text, importRules, resolve)
  if ('blocked' in guarded) throw invalidFields({ import_url: [`is blocked: ${guarded.blocked}`] })
  return guarded
}

/** Schedules the import of a new project from an accepted URL, in the transaction that creates the project. */
export async function importInto(
  ctx: Ctx,
  tx: Tx,
  projectId: number,
  { destination: { url }, defaultBranch }: { destination: Destination; defaultBranch: string | undefined },
): Promise<void> {
  const storage = await scheduleImport(tx, projectId, {
    actorId: ctx.actor!.id,
    sealedUrl: ctx.secrets.seal(url.href, urlPurpose(projectId)),
  })
  await saveImportReport(tx, projectId, { type: 'git' })
  await enqueue(tx, importFromUrl, { projectId, storage, ...(defaultBranch !== undefined && { defaultBranch }) })
}
