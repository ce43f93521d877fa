import { access, constants } from 'node:fs/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { reach } from '../../db/reach.ts'
import type { Runner } from '../../git/runner/client.ts'
import { checkJobs } from '../../jobs/standing.ts'
import type { Doors } from './doors.ts'
import { type MetricsDoor, metricsRoute } from './metrics-door.ts'
import type { Door } from './server.ts'

export type SystemParts = MetricsDoor & { runner: Runner; dataDir: string }

type Check = { status: 'ok' } | { status: 'failed'; message: string }

const check = async (work: () => Promise<unknown>): Promise<Check> => {
  const late = new Promise<never>((_resolve, reject) =>
    setTimeout(() => reject(new Error('no answer in time')), 3000).unref(),
  )
  try {
    await Promise.race([work(), late])
    return { status: 'ok' }
  } catch (error) {
    return { status: 'failed', message: error instanceof Error ? error.message : 'failed' }
  }
}

/** Health and readiness, which need no account and say nothing about what is stored; and figures. */
export const systemDoor =
  (doors: Doors, { runner, dataDir, ...metrics }: SystemParts): Door =>
  (app) => {
    const text = (_request: FastifyRequest, reply: FastifyReply) => reply.type('text/plain').send('Stithy OK')
    app.route({ method: ['GET', 'HEAD'], url: '/-/health', handler: text })
    app.route({
      method: ['GET', 'HEAD'],
      url: '/-/liveness',
      handler: (_request, reply) => reply.send({ status: 'ok' }),
    })
    app.route({
      method: ['GET', 'HEAD'],
      url: '/-/readiness',
      async handler(_request, reply) {
        const [database, disk, git, jobs] = await Promise.all([
          check(() => reach(doors.db)),
          check(() => access(dataDir, constants.R_OK | constants.W_OK)),
          check(() => runner.ping()),
          checkJobs(doors.db),
        ])
        const ready = [database, disk, git, jobs].every(({ status }) => status === 'ok')
        return reply.code(ready ? 200 : 503).send({
          status: ready ? 'ok' : 'failed',
          database_check: [database],
          disk_check: [disk],
          git_runner_check: [git],
          jobs_check: [jobs],
        })
      },
    })
    metricsRoute(app, doors, metrics)
  }
