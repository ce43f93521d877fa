import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { rowNotFound, unauthenticated } from '../../../kernel/failure.ts'
import { loadProject } from '../../projects/index.ts'
import { canMergeInto, loadProtections } from '../../pushes/index.ts'
import type { MergeRequestSubject } from '../merge-requests/subject.ts'

/**
 * Fails, with the status that clients expect, unless role and protection let the caller merge into the target branch. One
 * statement.
 */
export async function requireMergeAccess(
  ctx: Ctx,
  { project, target_branch }: Pick<MergeRequestSubject, 'project' | 'target_branch'>,
): Promise<void> {
  if (!canMergeInto(ctx, project, await loadProtections(ctx, project), target_branch)) throw unauthenticated()
}

/** The same for a request whose row was locked, for which it may have waited. Jobs have checked the permission themselves. */
export async function requireMergeAccessNow(
  ctx: Ctx,
  tx: Tx,
  { project_id, target_branch }: Pick<MergeRequestSubject, 'project_id' | 'target_branch'>,
): Promise<void> {
  if (!tx.requirePermission) return
  await tx.requirePermission()
  const now = { ...ctx, db: tx }
  const project = await loadProject(String(project_id), now)
  if (!project) throw rowNotFound()
  await requireMergeAccess(now, { project, target_branch })
}
