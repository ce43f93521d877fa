import { expect, vi } from 'vitest'
import { waitMs } from '../../../../test/waiting.ts'
import type { World } from '../../../../test/world.ts'
import { sql } from '../../../db/sql.ts'
import { digestOf } from '../../../kernel/token-secret.ts'

/** Runs `work` while the row of a token is locked, so that requests which need it run concurrently up to that point. */
export const whileLocked = <T>(world: World, secret: string, work: () => Promise<T>): Promise<T> =>
  world.db.transaction(async (tx) => {
    const digest = digestOf(secret)
    await tx.run(sql`select id from access_tokens where ${digest} in (digest, refresh_digest) for update`)
    return work()
  })

/** Waits until this number of requests wait for a lock. */
export const waitForWaiting = (world: World, count: number): Promise<void> =>
  vi.waitFor(
    async () =>
      expect(
        await world.rows(
          `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        ),
      ).toHaveLength(count),
    { timeout: waitMs, interval: 5 },
  )

/** The number of active tokens of a kind that a user has. */
export const usableTokens = async (world: World, userId: number, kind: string): Promise<number> =>
  (
    await world.rows(
      'select id from access_tokens where user_id = $1 and kind = $2 and not revoked and (ends_at is null or ends_at > now())',
      [userId, kind],
    )
  ).length
