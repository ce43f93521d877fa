import { Type } from 'typebox'
import type { JobDeclaration } from '../../../jobs/job.ts'

const input = Type.Object({ userId: Type.Integer() })

/**
 * What follows when somebody adds a key that signs commits: queue it in the same transaction. Changed addresses queue it by
 * themselves (`judge_signatures_of` in 0016_gpg_keys_and_signatures.sql); modules/repository/signatures/jobs.ts runs it.
 */
export const signaturesDue: JobDeclaration<typeof input> = {
  name: 'judge_signatures',
  input,
  key: ({ userId }) => `judge_signatures:${userId}`,
  queue: () => 'judge_signatures',
  attempts: 10,
}
