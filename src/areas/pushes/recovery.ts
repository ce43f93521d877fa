import { Type } from 'typebox'
import type { Ctx } from '../../api/ctx.ts'
import { job } from '../../jobs/job.ts'
import { settle } from './journal.ts'
import { unsettledPushes } from './queries.ts'

/** Between the verdict and the last ref a push needs milliseconds; after this it was cut off. */
const cutOffAfterSeconds = 120

/** Settles pushes that a crash cut off. With 0, all there are: for a start, when nobody pushes yet. */
export async function recoverPushes(ctx: Ctx, olderThanSeconds: number): Promise<number> {
  let recovered = 0
  for (const id of await unsettledPushes(ctx.db, olderThanSeconds)) {
    await settle(ctx, id)
    recovered++
  }
  return recovered
}

export const settleCutOffPushes = job({
  name: 'settle_cut_off_pushes',
  input: Type.Object({}),
  key: () => 'settle_cut_off_pushes',
  attempts: 3,
  every: { cron: '* * * * *', input: {} },
  run: async (_input, ctx) => {
    await recoverPushes(ctx, cutOffAfterSeconds)
  },
})
