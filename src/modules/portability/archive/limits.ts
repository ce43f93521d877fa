import type { JobLimits } from '../../../jobs/limits.ts'
import { remoteLimits } from '../../lifecycle/index.ts'

/** Maximum exports, and imports of archives, at once. */
const atOnce = 2
/** Maximum of them for one user, whose large archive or slow remote must not hold up those of others. */
const ofUser = 1

/** The limits of a job that writes or reads an archive, which may take hours. `url`: it sends the archive there, or gets it from there. */
export const archiveLimits = (
  kind: 'export' | 'import',
  { userId, url }: { readonly userId: number; readonly url: string | undefined },
): JobLimits => ({
  ...(url !== undefined && remoteLimits(kind, { url, userId })),
  [`archives: ${kind}`]: atOnce,
  [`archives: ${kind}, user ${userId}`]: ofUser,
})
