import { endpoint, raw } from '../../../api/endpoint.ts'
import { Params } from '../../../api/params/types.ts'
import { enqueue } from '../../../jobs/job.ts'
import { conflict } from '../../../kernel/failure.ts'
import { claimHousekeeping, project } from '../../projects/index.ts'
import { housekeepRepository } from './jobs.ts'

/** Minimum interval between two requests for one project, in minutes. */
const lockMinutes = 1440

export const housekeepingRoutes = [
  endpoint({
    method: 'POST',
    path: '/projects/:id/housekeeping',
    summary: 'Start housekeeping of a project',
    description: 'Repacks and cleans the repository in the background.',
    subject: project,
    allow: 'keep_house',
    params: Params({}),
    returns: raw('application/json'),
    async handle({ subject, ctx }) {
      await ctx.transaction(async (tx) => {
        const isClaimed = await claimHousekeeping(tx, subject.id, lockMinutes)
        // The row waits for other requests.
        await tx.requirePermission?.()
        if (!isClaimed)
          throw conflict(`Somebody already triggered housekeeping for this project in the past ${lockMinutes} minutes`)
        await enqueue(tx, housekeepRepository, { projectId: subject.id })
      })
      return { body: Buffer.from('null'), contentType: 'application/json' }
    },
  }),
]
