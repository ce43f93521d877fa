import { expect } from 'vitest'
import type { Tx } from '../src/db/db.ts'
import { lockAccess } from '../src/modules/namespaces/index.ts'
import { waitingFor } from './tables/instance.ts'
import type { Answer, World } from './world.ts'

/** The answer to a request during whose wait for a lock, by default that of access, something happens that needs no such lock. */
export async function answerDuring(
  world: World,
  request: () => Promise<Answer>,
  meanwhile: () => Promise<Answer>,
  lock: (tx: Tx) => Promise<unknown> = lockAccess,
): Promise<Answer> {
  const sent = await world.db.transaction(async (tx) => {
    await lock(tx)
    const waiting = request()
    await expect.poll(() => waitingFor(world, 'lock')).toHaveLength(1)
    expect((await meanwhile()).status).toBeLessThan(300)
    // In an object, because the transaction must end before the request can.
    return { waiting }
  })
  return sent.waiting
}
