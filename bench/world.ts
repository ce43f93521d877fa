import type { Size } from './sizes.ts'

/*
 * Who and what is in the seeded data, known without asking the database: ids follow from ordinals.
 */

/** Personal namespaces have the ids of their users. */
export const userId = (ordinal: number): number => 100 + ordinal
export const groupId = (ordinal: number): number => 100_000 + ordinal
export const projectId = (ordinal: number): number => ordinal

/** Groups without a parent come first. */
export const topGroups = ({ groups }: Size): number => Math.max(1, Math.floor(groups / 50))

/** Member of many groups and projects. */
export const busyUser = ({ users }: Size): number => users

/** Holds the repository of 20,000 commits; public, in the first group, which is public too. */
export const repositoryProject = 1

/** So many merge requests, the first, are of that project, and the first of them have branches that its history merged. */
export const repositoryMergeRequests = 500
export const trueMergeRequests = 60

/** Secret of the token that the user with this ordinal has. */
export const tokenOf = (ordinal: number): string => `stithy-bench-user-${ordinal}`
export const rootToken = 'stithy-bench-root-token'

/** `count` ordinals spread evenly over 1 to `total`, the same each time. */
export function spread(total: number, count: number): number[] {
  const step = total / Math.min(total, count)
  return Array.from({ length: Math.min(total, count) }, (_, index) => 1 + Math.floor(index * step))
}
