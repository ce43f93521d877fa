import { job } from '../../jobs/job.ts'
import { signaturesDue } from '../users/signatures-due.ts'
import { judgeSignaturesOf } from './service.ts'

/** After somebody added a key or changed an address. */
export const judgeSignatures = job({
  ...signaturesDue,
  run: ({ userId }, ctx) => judgeSignaturesOf(ctx, userId),
})
