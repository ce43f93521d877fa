import type { Tx } from '../../src/db/db.ts'
import { sql } from '../../src/db/sql.ts'
import type { World } from '../world.ts'
import { add, ago, Computed, change, find, now, remove } from './statements.ts'

export const forgetSignInFailures = (world: World) => remove(world, 'sign_in_failures', {})

export const signInFailures = (world: World) => find(world, 'sign_in_failures', {}, ['failures'])

export const endedSignInFailures = (world: World) => world.rows('select from sign_in_failures where ends_at <= now()')

export const addEndedSignInFailures = (world: World, count: number) =>
  world.rows(
    `insert into sign_in_failures (key, failures, ends_at)
      select decode(md5(n::text), 'hex'), 1, now() - interval '1 hour' from generate_series(1, $1) n`,
    [count],
  )

export const countSignInFailures = (world: World, failures: number) =>
  change(world, 'sign_in_failures', {}, { failures })

/** The two counters of a first failure that end last are one failure below their limit. */
export const bringFailuresNearLimit = (world: World) =>
  world.rows(
    `update sign_in_failures set failures = 99
      where failures = 1 and ends_at > now()
        and key in (select key from sign_in_failures where ends_at > now() order by ends_at desc limit 2)`,
  )

export const endSignInFailures = (world: World) => change(world, 'sign_in_failures', {}, { ends_at: now })

/** As if they had been counted by a clock that is ahead. */
export const moveSignInFailuresAhead = (world: World) =>
  change(world, 'sign_in_failures', {}, { ends_at: new Computed(`ends_at + interval '5 hours'`) })

export const addTwoFactor = (world: World, user_id: number, secret: string) =>
  add(world, 'two_factors', { user_id, secret })

/** The sealed secret of the user's second factor, as `secret`. */
export const twoFactorOf = (world: World, user_id: number) => find(world, 'two_factors', { user_id }, ['secret'])

export const lockTwoFactorOf = (tx: Tx, userId: number) =>
  tx.run(sql`select from two_factors where user_id = ${userId} for update`)

/** As if the last code had been used by a clock that is five hours ahead. */
export const moveTwoFactorAhead = (world: World, user_id: number) =>
  change(world, 'two_factors', { user_id }, { last_step: new Computed('last_step + 600') })

export const recoveryCodesOf = (world: World, user_id: number) => find(world, 'recovery_codes', { user_id }, ['digest'])

/** The user has been asked for a second factor since this interval. */
export const demandTwoFactorSince = (world: World, user_id: number, interval: string) =>
  change(world, 'two_factor_demands', { user_id }, { since: ago(interval) })

/** The second factors, variables and settings that are stored encrypted. */
export const sealedVariables = (world: World) =>
  find(world, 'variables', {}, ['id', 'key', 'project_id', 'namespace_id', 'sealed_value'], 'id')

export const sealedSpamKey = (world: World) =>
  find(world, 'application_settings', {}, [`values->>'spam_filter_api_key' as sealed`])
