import { BlockList, isIPv6 } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller } from '../../access/actor.ts'
import { reaches } from '../../access/scopes.ts'
import { DatabaseLost } from '../../db/connection-errors.ts'
import type { Settings } from '../../settings/settings.ts'
import { admit } from './admit.ts'
import { type Exchange, sendText } from './answer.ts'
import { shownToken } from './authenticate.ts'
import type { HttpContext } from './context.ts'
import { beginExchange } from './exchange.ts'
import { fail } from './fail.ts'
import { unknownRoute } from './failures.ts'
import { metricsContentType } from './metrics.ts'

export type MetricsParts = {
  /** The metrics in Prometheus text format. */
  readonly metrics: () => Promise<string>
  /** Addresses and networks that need no token. */
  readonly metricsFrom: readonly string[]
}

/** `/-/metrics`: for configured addresses, and for administrators from anywhere; 404 for others. */
export function metricsRoute(app: FastifyInstance, context: HttpContext, { metrics, metricsFrom }: MetricsParts): void {
  const networks = networksOf(metricsFrom)
  app.route({
    method: ['GET', 'HEAD'],
    url: '/-/metrics',
    async handler(request, reply) {
      reply.hijack()
      const exchange = beginExchange(request, reply, context.siteUrl)
      try {
        const { monitoring_metrics_enabled } = await settingsOf(context)
        if (!monitoring_metrics_enabled) throw unknownRoute()
        if (!isNear(request, networks)) {
          const caller = await callerOf(exchange, request.ip, context)
          if (caller === undefined) return
          if (!caller?.admin || !reaches(caller.scopes, ['api', 'read_api'])) throw unknownRoute()
        }
        sendText(exchange, 200, await metrics(), { 'content-type': metricsContentType })
      } catch (error) {
        fail(exchange, error, context)
      }
    },
  })
}

/** Falls back to the last known settings without a database: metrics matter most then. */
const settingsOf = ({ settings }: HttpContext): Promise<Settings> =>
  settings.get().catch((error) => (error instanceof DatabaseLost ? settings.latest : Promise.reject(error)))

function networksOf(texts: readonly string[]): BlockList {
  const networks = new BlockList()
  for (const text of texts) {
    const [address = '', bits] = text.split('/')
    const family = familyOf(address)
    networks.addSubnet(address, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family)
  }
  return networks
}

const familyOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4')

const own = networksOf(['127.0.0.0/8', '::1'])

/**
 * Whether the client's address is in `networks`, as reported by a proxy on this machine. A loopback address counts only without
 * forwarding headers: a proxy that passes on forged ones would otherwise let any client appear as this machine.
 */
function isNear({ ip, raw }: FastifyRequest, networks: BlockList): boolean {
  const family = familyOf(ip)
  const isPassedOn = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'].some((name) => name in raw.headers)
  return networks.check(ip, family) && !(isPassedOn && own.check(ip, family))
}

/** The caller; null for an invalid token. `undefined` if a limit is exceeded; the response has been sent then. */
async function callerOf(exchange: Exchange, remoteAddress: string, context: HttpContext): Promise<Caller | undefined> {
  const settings = await context.settings.get()
  const visitor = { exchange, remoteAddress, settings, kind: 'web' } as const
  try {
    return await admit(shownToken(exchange.req.headers, {}), visitor, context)
  } catch {
    return null
  }
}
