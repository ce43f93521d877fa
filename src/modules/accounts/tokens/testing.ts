import { expect } from 'vitest'
import { waitingFor } from '../../../../test/tables/instance.ts'
import { lockToken, validTokens } from '../../../../test/tables/tokens.ts'
import { eventually } from '../../../../test/waiting.ts'
import type { World } from '../../../../test/world.ts'

/** Runs `work` while the row of a token is locked, so that requests which need it run concurrently up to that point. */
export const whileLocked = <T>(world: World, secret: string, work: () => Promise<T>): Promise<T> =>
  world.db.transaction(async (tx) => {
    await lockToken(tx, secret)
    return work()
  })

/** Waits until this number of requests wait for a lock. */
export const waitForWaiting = (world: World, count: number): Promise<void> =>
  eventually(async () => expect(await waitingFor(world, 'lock')).toHaveLength(count), 5)

/** The number of active tokens of a kind that a user has. */
export const usableTokens = async (world: World, userId: number, kind: string): Promise<number> =>
  (await validTokens(world, userId, kind)).length
