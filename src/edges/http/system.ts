import { access, constants } from 'node:fs/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { BlobStore } from '../../blobs/blob-store.ts'
import { pingDatabase } from '../../db/ping.ts'
import type { Runner } from '../../git/runner/client.ts'
import { checkJobs } from '../../jobs/queue-state.ts'
import { within } from '../../kernel/late.ts'
import { sharedResult } from '../../kernel/shared-result.ts'
import type { Load } from '../../kernel/shares.ts'
import type { HttpContext } from './context.ts'
import { type MetricsParts, metricsRoute } from './metrics-route.ts'
import type { Routes } from './server.ts'

export type SystemParts = MetricsParts & {
  readonly runner: Runner
  readonly databaseLoads: () => Readonly<Record<string, Load>>
  readonly blobs: Pick<BlobStore, 'ping'>
  readonly dataDir: string
  /** Time in milliseconds after which a full lane or pool counts as stuck. Default `stuckAfterMs`. */
  readonly stuckAfterMs?: number | undefined
}

/**
 * A lane of git processes, or a pool of connections, is stuck if all slots are held and the oldest request has waited longer.
 */
const stuckAfterMs = 30_000

/** How long the result of all checks is kept, in milliseconds. */
const readinessKeptMs = 1_000

type Check = { status: 'ok' } | { status: 'failed'; message: string }

/** A check that never rejects. What has not ended in time goes on, and the next check waits for it. */
const checkOf = (part: () => Promise<unknown>) => {
  const work = sharedResult(part)
  return async (): Promise<Check> => {
    try {
      await within(3000, work(), () => {
        throw new Error('no answer in time')
      })
      return { status: 'ok' }
    } catch (error) {
      return { status: 'failed', message: error instanceof Error ? error.message : 'failed' }
    }
  }
}

/** Throws with the names of stuck lanes or pools. */
function requireFlow(what: string, loads: Readonly<Record<string, Load>>, limitMs: number): void {
  const stuck = Object.entries(loads).filter(
    ([, { slots, running, waiting, oldestWaitMs }]) => waiting > 0 && running >= slots && oldestWaitMs > limitMs,
  )
  if (stuck.length === 0) return
  const sentences = stuck.map(
    ([name, { slots, waiting, oldestWaitMs }]) =>
      `the ${what} ${name} is stuck: ${slots} of ${slots} slots held, ${waiting} waiting, the oldest for ${Math.round(oldestWaitMs / 1000)} s`,
  )
  throw new Error(sentences.join('; '))
}

/**
 * Health and readiness, which need no account and reveal nothing about stored data; what the service sees of the client's
 * connection, with which `stithy doctor` checks a proxy; and metrics.
 */
export const systemRoutes =
  (context: HttpContext, parts: SystemParts): Routes =>
  (app) => {
    const { runner, databaseLoads, blobs, dataDir, stuckAfterMs: limitMs = stuckAfterMs } = parts
    /** What the service needs to be ready, by name: `database` is reported as `database_check`. */
    const checks: Readonly<Record<string, () => Promise<unknown>>> = {
      database: () => pingDatabase(context.db),
      database_pool: async () => requireFlow('pool of database', databaseLoads(), limitMs),
      disk: () => access(dataDir, constants.R_OK | constants.W_OK),
      blobs: () => blobs.ping(),
      git_runner: () => runner.ping(),
      git_lane: async () => requireFlow('lane', await runner.loads(), limitMs),
    }
    const checksOfParts = Object.entries(checks).map(([name, work]) => [name, checkOf(work)] as const)
    /** Clients without an account may ask as often as they want. */
    const readiness = sharedResult(async () => {
      const results = await Promise.all([
        ...checksOfParts.map(async ([name, check]) => [`${name}_check`, await check()] as const),
        checkJobs(context.db).then((result) => ['jobs_check', result] as const),
      ])
      const ready = results.every(([, { status }]) => status === 'ok')
      return {
        ready,
        body: {
          status: ready ? 'ok' : 'failed',
          ...Object.fromEntries(results.map(([name, result]) => [name, [result]])),
        },
      }
    }, readinessKeptMs)
    const text = (_request: FastifyRequest, reply: FastifyReply) => reply.type('text/plain').send('Stithy OK')
    app.route({ method: ['GET', 'HEAD'], url: '/-/health', handler: text })
    app.route({
      method: ['GET', 'HEAD'],
      url: '/-/connection',
      handler: ({ ip, ips = [], headers }, reply) =>
        reply.header('cache-control', 'no-store').send({
          address: ip,
          host: headers.host ?? null,
          forwarded_for: 'x-forwarded-for' in headers,
          believed: ips.length > 1,
          forwarded_proto: String(headers['x-forwarded-proto'] ?? '') || null,
        }),
    })
    app.route({
      method: ['GET', 'HEAD'],
      url: '/-/liveness',
      handler: (_request, reply) => reply.send({ status: 'ok' }),
    })
    app.route({
      method: ['GET', 'HEAD'],
      url: '/-/readiness',
      async handler(_request, reply) {
        const { ready, body } = await readiness()
        return reply.code(ready ? 200 : 503).send(body)
      },
    })
    metricsRoute(app, context, parts)
  }
