import type { Size } from './sizes.ts'

/* Ids of the seeded data, computed from ordinals without a query. */

/** Personal namespaces have the ids of their users. */
export const userId = (ordinal: number): number => 100 + ordinal
export const groupId = (ordinal: number): number => 100_000 + ordinal
export const projectId = (ordinal: number): number => ordinal

/** Number of groups without a parent; they come first. */
export const topGroups = ({ groups }: Size): number => Math.max(1, Math.floor(groups / 50))

/** A member of many groups and projects. */
export const busyUser = ({ users }: Size): number => users

/** The project with the repository of 20,000 commits; public, in the first group, which is public, too. */
export const repositoryProject = 1

/** Number of merge requests in that project, which come first; the first of them match actual merges. */
export const repositoryMergeRequests = 500
export const trueMergeRequests = 60

/** Number of issues in that project, which come first: far more than in others. */
export const repositoryIssues = ({ issues }: Size): number => Math.floor(issues / 200)

/** Secret of the access token of the user with this ordinal. */
export const tokenOf = (ordinal: number): string => `stithy-bench-user-${ordinal}`
export const rootToken = 'stithy-bench-root-token'

/** `count` ordinals spread evenly over 1 to `total`; deterministic. */
export function spread(total: number, count: number): number[] {
  const step = total / Math.min(total, count)
  return Array.from({ length: Math.min(total, count) }, (_, index) => 1 + Math.floor(index * step))
}
