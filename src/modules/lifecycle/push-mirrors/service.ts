import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { enqueue } from '../../../jobs/job.ts'
import { changedNames } from '../../../kernel/changed-names.ts'
import { invalid, invalidFields, notFound } from '../../../kernel/failure.ts'
import { guardUrl } from '../../instance/index.ts'
import { lockToChange, type ProjectSubject } from '../../projects/index.ts'
import { maskedUrl } from '../remotes/masked-url.ts'
import { requireMirrorsAvailable } from '../remotes/mirrors-available.ts'
import { pushToMirror } from './jobs.ts'
import { targetPurpose } from './purpose.ts'
import {
  countPushMirrors,
  deletePushMirror,
  findPushMirror,
  findPushRemote,
  insertPushMirror,
  nextPushMirrorId,
  type PushMirrorRow,
  type PushMirrorValues,
  schedulePushes,
  updatePushMirror,
} from './queries.ts'
import { targetRules } from './rules.ts'

/** Maximum push mirrors of a project: each push starts an update of all. */
const maxMirrors = 10

const missing = () => notFound('Remote Mirror')

export async function getPushMirror(ctx: Ctx, projectId: number, id: number): Promise<PushMirrorRow> {
  const mirror = await findPushMirror(ctx.db, projectId, id)
  if (!mirror) throw missing()
  return mirror
}

/** Creates a mirror and, if it is enabled, starts its first update. */
export async function createPushMirror(
  ctx: Ctx,
  project: ProjectSubject,
  { url, ...values }: PushMirrorValues & { url: string },
): Promise<PushMirrorRow> {
  requireMirrorsAvailable(ctx)
  const target = await guardUrl(ctx, url, targetRules)
  if ('blocked' in target) throw invalidFields({ url: [`is blocked: ${target.blocked}`] })
  return ctx.transaction(async (tx) => {
    // Serialises creations, for the maximum.
    await lockToChange(tx, project.id)
    if ((await countPushMirrors(tx, project.id)) >= maxMirrors)
      throw invalidFields({ base: [`Maximum number (${maxMirrors}) of push mirrors exceeded`] })
    const id = await nextPushMirrorId(tx)
    const made = await insertPushMirror(tx, project.id, {
      ...values,
      id,
      userId: ctx.actor!.id,
      sealedUrl: ctx.secrets.seal(target.url.href, targetPurpose(id)),
      shownUrl: maskedUrl(target.url),
    })
    await emitChange(ctx, tx, 'push_mirror_created', project.id, made)
    if (!made.enabled) return made
    await startPush(tx, project.id, id)
    return { ...made, update_status: 'scheduled' }
  })
}

type Change = 'push_mirror_created' | 'push_mirror_updated' | 'push_mirror_deleted'

const emitChange = (
  ctx: Ctx,
  tx: Tx,
  kind: Change,
  projectId: number,
  { id, shown_url: url }: Pick<PushMirrorRow, 'id' | 'shown_url'>,
): Promise<void> =>
  emit(tx, { kind, projectId, actorId: ctx.actor!.id, payload: { push_mirror_id: id }, facts: { url } })

/** Schedules an update of one mirror. False if it is disabled. */
async function startPush(tx: Tx, projectId: number, mirrorId: number): Promise<boolean> {
  const scheduled = await schedulePushes(tx, projectId, mirrorId)
  if (scheduled.length > 0) await enqueue(tx, pushToMirror, { projectId, mirrorId })
  return scheduled.length > 0
}

/** Changes a mirror, whose updates then depend on the caller's rights, and starts an update if it is enabled. */
export async function editPushMirror(
  ctx: Ctx,
  project: ProjectSubject,
  id: number,
  values: Partial<PushMirrorValues>,
): Promise<PushMirrorRow> {
  requireMirrorsAvailable(ctx)
  await ctx.transaction(async (tx) => {
    await lockToChange(tx, project.id)
    const before = await findPushMirror(tx, project.id, id)
    const remote = await findPushRemote(tx, id)
    const userId = ctx.actor!.id
    const edited = await updatePushMirror(tx, project.id, id, { ...values, userId })
    if (!before || !edited) throw missing()
    if (changedNames(before, values).length > 0 || remote?.user_id !== userId)
      await emitChange(ctx, tx, 'push_mirror_updated', project.id, edited)
    await startPush(tx, project.id, id)
  })
  return getPushMirror(ctx, project.id, id)
}

export const removePushMirror = (ctx: Ctx, project: ProjectSubject, id: number): Promise<void> =>
  ctx.transaction(async (tx) => {
    const deleted = await deletePushMirror(tx, project.id, id)
    await tx.requirePermission?.()
    if (!deleted) throw missing()
    await emitChange(ctx, tx, 'push_mirror_deleted', project.id, { id, ...deleted })
  })

/** Starts an update on request. */
export async function syncPushMirror(ctx: Ctx, project: ProjectSubject, id: number): Promise<void> {
  await getPushMirror(ctx, project.id, id)
  const isStarted = await ctx.transaction(async (tx) => {
    const starts = await startPush(tx, project.id, id)
    await tx.requirePermission?.()
    return starts
  })
  if (!isStarted) throw invalid('Cannot proceed with the push mirroring. Please verify your mirror configuration.')
}
