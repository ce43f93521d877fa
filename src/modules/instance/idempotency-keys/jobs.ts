import { Type } from 'typebox'
import { job } from '../../../jobs/job.ts'
import { deleteOldKeys } from './queries.ts'

/** Deletes idempotency keys that are older than a day. */
export const purgeIdempotencyKeys = job({
  name: 'purge_idempotency_keys',
  input: Type.Object({}),
  key: () => 'purge_idempotency_keys',
  attempts: 3,
  every: { cron: '10 * * * *', input: {} },
  async run(_input, ctx) {
    while (await deleteOldKeys(ctx.db));
  },
})
