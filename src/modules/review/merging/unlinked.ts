import { Type } from 'typebox'
import { job } from '../../../jobs/job.ts'
import { eachByItself } from '../../../kernel/each-by-itself.ts'
import { findForkRelation } from '../../repository/index.ts'
import { closeInJob } from './close-in-job.ts'
import { openAround } from './queries.ts'

/** Closes merge requests from a project into projects outside its fork network, as the user who unlinked it. */
export const closeUnlinked = job({
  name: 'close_unlinked_merge_requests',
  input: Type.Object({ projectId: Type.Integer(), actorId: Type.Integer() }),
  key: ({ projectId }) => `close_unlinked_merge_requests:${projectId}`,
  attempts: 10,
  async run({ projectId, actorId }, ctx) {
    const outgoing = (await openAround(ctx.db, projectId)).filter((row) => row.project_id !== projectId)
    const targets = new Set(outgoing.map((row) => row.project_id))
    for (const targetId of targets)
      if ((await findForkRelation(ctx.db, projectId, targetId)).related) targets.delete(targetId)
    const unlinked = outgoing.filter((row) => targets.has(row.project_id))
    await eachByItself(
      unlinked.map(({ id }) => id),
      (id) => closeInJob(ctx, id, actorId),
    )
  },
})
