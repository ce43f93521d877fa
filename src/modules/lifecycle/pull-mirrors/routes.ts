import type { Ctx } from '../../../api/ctx.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { Params } from '../../../api/params/types.ts'
import { enqueue } from '../../../jobs/job.ts'
import { invalid } from '../../../kernel/failure.ts'
import { project } from '../../projects/index.ts'
import { PullMirror } from './entity.ts'
import { updatePullMirror } from './jobs.ts'
import { findPullMirror, type PullMirrorRow, restartPullMirror } from './queries.ts'

const noMirror = () => invalid('The project is not mirrored')

async function getPullMirror(ctx: Ctx, projectId: number): Promise<PullMirrorRow> {
  const mirror = await findPullMirror(ctx.db, projectId)
  if (!mirror) throw noMirror()
  return mirror
}

export const pullMirrorRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/mirror/pull',
    summary: 'Get the pull mirror',
    description: 'Returns the state of the updates. 400 if the project is not a mirror.',
    subject: project,
    allow: 'read_mirror',
    tier: 'starter',
    returns: PullMirror,
    handle: ({ subject, ctx }) => getPullMirror(ctx, subject.id),
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/mirror/pull',
    summary: 'Update the pull mirror',
    description: 'Updates the project in the background, also if the mirror stopped after too many failures.',
    subject: project,
    allow: 'admin_mirror',
    tier: 'starter',
    params: Params({}),
    status: 200,
    returns: PullMirror,
    async handle({ subject, ctx }) {
      await ctx.transaction(async (tx) => {
        const restarts = await restartPullMirror(tx, subject.id)
        await tx.requirePermission?.()
        if (!restarts) throw noMirror()
        await enqueue(tx, updatePullMirror, { projectId: subject.id })
      })
      return getPullMirror(ctx, subject.id)
    },
  }),
]
