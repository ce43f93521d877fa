import type { JobLimits } from '../../../jobs/limits.ts'

/** A remote of a user. */
type RemoteOfUser = { readonly url: string; readonly userId: number | null }

/** Maximum jobs that wait for remotes at once. */
const atOnce = 8
/** Maximum of them that import, that export, or that update mirrors: imports may take hours. */
const ofKind = 6
/** Maximum of them at one host, and for one user, who has fewer than are free: two users cannot hold all, nor all of a kind. */
const ofHostOrUser = 2

/** The limits of a job that connects to a remote. A user has one at a time at the same host. */
export function remoteLimits(kind: 'import' | 'export' | 'mirror', { url, userId }: RemoteOfUser): JobLimits {
  const { hostname } = new URL(url)
  return {
    remotes: atOnce,
    [`remotes: ${kind}`]: ofKind,
    [`remotes: host ${hostname}`]: ofHostOrUser,
    [`remotes: user ${userId}`]: { atMost: ofHostOrUser, of: ['remotes', `remotes: ${kind}`] },
    [`remotes: host ${hostname}, user ${userId}`]: 1,
  }
}
