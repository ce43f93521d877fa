import type { Actor, Caller } from '../../access/actor.ts'
import { networkOf } from '../../access/share-key.ts'
import type { Db } from '../../db/db.ts'
import { admitsAddress, countHit } from '../../settings/queries.ts'
import type { Settings } from '../../settings/settings.ts'
import { type Exchange, sendText } from './answer.ts'

/** The API, or other paths: Git and LFS. */
export type LimitedRequests = 'api' | 'web'

export type Limited = { retryAfterSeconds: number }

const plain = { 'content-type': 'text/plain' }

/** The credential of a caller without an account, since all of them have the same id. */
function identityOf({ id, deployKey, deployToken }: Actor): string {
  if (deployKey) return `deploy key:${deployKey.id}`
  return deployToken ? `deploy token:${deployToken.id}` : `user:${id}`
}

/**
 * Counts the request against the rate limit of its caller: accounts, deploy keys and deploy tokens by id, anonymous callers by network. One statement if the
 * limit is enabled, none otherwise. Counts in the database, so that processes share the count.
 */
async function exceedsRateLimit(
  db: Db,
  settings: Settings,
  caller: Caller,
  remoteAddress: string | undefined,
  kind: LimitedRequests = 'api',
): Promise<Limited | undefined> {
  const isWeb = kind === 'web'
  const limit = caller
    ? settings[`throttle_authenticated_${kind}_enabled`] && {
        key: isWeb ? `web ${identityOf(caller)}` : identityOf(caller),
        requests: settings[`throttle_authenticated_${kind}_requests_per_period`],
        seconds: settings[`throttle_authenticated_${kind}_period_in_seconds`],
      }
    : settings.throttle_unauthenticated_enabled && {
        key: `address:${remoteAddress === undefined ? 'unknown' : networkOf(remoteAddress)}`,
        requests: settings.throttle_unauthenticated_requests_per_period,
        seconds: settings.throttle_unauthenticated_period_in_seconds,
      }
  return limit ? exceeds(db, limit) : undefined
}

/** The decoded path, as the router reads it, so that encodings do not circumvent the limit. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Counts POST requests to protected paths, by network. */
export async function exceedsPathLimit(
  db: Db,
  settings: Settings,
  path: string,
  remoteAddress: string,
): Promise<Limited | undefined> {
  if (!settings.throttle_protected_paths_enabled) return undefined
  const spelled = decoded(path)
  if (!settings.protected_paths.some((start) => spelled === start || spelled.startsWith(`${start}/`))) return undefined
  return exceeds(db, {
    key: `protected:${networkOf(remoteAddress)}`,
    requests: settings.throttle_protected_paths_requests_per_period,
    seconds: settings.throttle_protected_paths_period_in_seconds,
  })
}

async function exceeds(
  db: Db,
  { key, requests, seconds }: { key: string; requests: number; seconds: number },
): Promise<Limited | undefined> {
  if (seconds === 0) return undefined
  // Another length of the period begins another count.
  const { hits, ends_in } = await countHit(db, `${key} ${seconds}`, seconds)
  return hits > requests ? { retryAfterSeconds: ends_in } : undefined
}

/** Whether the user has used more addresses than allowed. One statement if that limit is enabled. */
async function comesFromTooMany(db: Db, settings: Settings, caller: Caller, remoteAddress: string): Promise<boolean> {
  if (!settings.unique_ips_limit_enabled || !caller || caller.id === 0) return false
  return !(await admitsAddress(db, caller.id, remoteAddress, {
    limit: settings.unique_ips_limit_per_user,
    seconds: settings.unique_ips_limit_time_window,
  }))
}

export const sendTooMany = (exchange: Exchange, { retryAfterSeconds }: Limited): void =>
  sendText(exchange, 429, 'Retry later\n', { ...plain, 'retry-after': retryAfterSeconds })

/** Whether any limit is enabled. */
export const hasLimits = (settings: Settings, kind: LimitedRequests): boolean =>
  settings[`throttle_authenticated_${kind}_enabled`] ||
  settings.throttle_unauthenticated_enabled ||
  settings.unique_ips_limit_enabled

/** Sends an error response if the caller exceeds a limit; false if not. */
export async function refusedByLimits(
  exchange: Exchange,
  { db, settings }: { db: Db; settings: Settings },
  caller: Caller,
  remoteAddress: string,
  kind: LimitedRequests,
): Promise<boolean> {
  const limited = await exceedsRateLimit(db, settings, caller, remoteAddress, kind)
  if (limited) {
    sendTooMany(exchange, limited)
    return true
  }
  if (!(await comesFromTooMany(db, settings, caller, remoteAddress))) return false
  sendText(exchange, 403, 'Too many logins from different IPs\n', plain)
  return true
}
