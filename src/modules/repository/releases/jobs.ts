import { Type } from 'typebox'
import { tagRef } from '../../../git/format/ref-name.ts'
import { readRef } from '../../../git/refs/refs.ts'
import { job } from '../../../jobs/job.ts'
import { findProject, openRepository } from '../../projects/index.ts'
import { endRelease } from './end-release.ts'

/** Milliseconds until the job runs: longer than it takes to delete a tag, or to recover after a crash. */
export const endReleaseAfterMs = 5 * 60_000

/** Deletes the release of a tag that was deleted, if a crash prevented the request from doing so. */
export const endReleaseOfDeletedTag = job({
  name: 'end_release_of_deleted_tag',
  input: Type.Object({
    projectId: Type.Integer(),
    tag: Type.String(),
    releaseId: Type.Integer(),
    actorId: Type.Integer(),
  }),
  key: ({ releaseId }) => `end_release_of_deleted_tag:${releaseId}`,
  attempts: 5,
  async run({ projectId, tag, releaseId, actorId }, ctx) {
    const project = await findProject(ctx.db, null, projectId)
    const ref = tagRef(tag)
    if (!project || !ref || (await readRef(openRepository(ctx, project), ref))) return
    await ctx.transaction((tx) => endRelease(tx, { projectId, actorId }, tag, releaseId))
  },
})
