import { Type } from 'typebox'
import { job } from '../../../jobs/job.ts'
import { judgeSignaturesOf } from './service.ts'

/** Verifies the signatures of a user's commits again, after a key was added or an e-mail address changed (src/reactions.ts). */
export const judgeSignatures = job({
  name: 'judge_signatures',
  input: Type.Object({ userId: Type.Integer() }),
  key: ({ userId }) => `judge_signatures:${userId}`,
  queue: () => 'judge_signatures',
  attempts: 10,
  run: ({ userId }, ctx) => judgeSignaturesOf(ctx, userId),
})
