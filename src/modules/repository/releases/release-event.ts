import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import type { ProjectSubject } from '../../projects/index.ts'

/** Emits that the release of a tag was created or changed. */
export const emitReleaseEvent = (
  tx: Tx,
  ctx: Ctx,
  kind: 'release_created' | 'release_updated',
  { id }: ProjectSubject,
  tag: string,
) => emit(tx, { kind, projectId: id, actorId: ctx.actor!.id, payload: { tag } })
