import { job } from '../../../jobs/job.ts'
import { signaturesDue } from '../../accounts/index.ts'
import { judgeSignaturesOf } from './service.ts'

/** After somebody added a key or changed an address. */
export const judgeSignatures = job({
  ...signaturesDue,
  run: ({ userId }, ctx) => judgeSignaturesOf(ctx, userId),
})
