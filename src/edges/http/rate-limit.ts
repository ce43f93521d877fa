import type { Caller } from '../../access/actor.ts'
import type { Db } from '../../db/db.ts'
import { countHit } from '../../settings/queries.ts'
import type { Settings } from '../../settings/settings.ts'

export type Limited = { retryAfterSeconds: number }

/**
 * Counts the request against the limit of its caller, if one is set: accounts by id, others by address. One statement
 * when a limit is on, none otherwise. Counted in the database, so that processes count together.
 */
export async function exceedsRateLimit(
  db: Db,
  settings: Settings,
  caller: Caller,
  remoteAddress: string | undefined,
): Promise<Limited | undefined> {
  const limit = caller
    ? settings.throttle_authenticated_api_enabled && {
        key: `user:${caller.id}`,
        requests: settings.throttle_authenticated_api_requests_per_period,
        seconds: settings.throttle_authenticated_api_period_in_seconds,
      }
    : settings.throttle_unauthenticated_enabled && {
        key: `address:${remoteAddress ?? 'unknown'}`,
        requests: settings.throttle_unauthenticated_requests_per_period,
        seconds: settings.throttle_unauthenticated_period_in_seconds,
      }
  if (!limit || limit.seconds === 0) return undefined
  const hits = await countHit(db, limit.key, limit.seconds)
  return hits > limit.requests ? { retryAfterSeconds: limit.seconds } : undefined
}
