import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { insertRelease, updateRelease } from './queries.ts'
import { emitReleaseEvent } from './release-event.ts'
import { lockedRelease } from './service.ts'

/** Maximum characters of release notes. */
export const maxReleaseNotes = 1024 * 1024

/** Adds a release that has only notes, as endpoints of tags make it. False if the tag has a release already. */
export async function addNotes(
  tx: Tx,
  ctx: Ctx,
  project: ProjectSubject,
  tag: string,
  description: string,
): Promise<boolean> {
  const key = { projectId: project.id, tag, authorId: ctx.actor!.id }
  const id = await insertRelease(tx, key, { name: null, description, releasedAt: undefined })
  // The insert waits for changes of the project.
  await tx.requirePermission?.()
  if (id === undefined) return false
  await emitReleaseEvent(tx, ctx, 'release_created', project, tag)
  return true
}

/** Changes the notes of a release. The same text leaves no trace. */
export const editNotes = (ctx: Ctx, project: ProjectSubject, tag: string, description: string): Promise<void> =>
  ctx.transaction(async (tx) => {
    const before = await lockedRelease(tx, project, tag)
    if (before.description === description) return
    await updateRelease(tx, before.id, { description })
    await emitReleaseEvent(tx, ctx, 'release_updated', project, tag)
  })
