/** Settings of a project that reserve the repository, and what cannot be more open, for members. */
export const forMembers = {
  repository_access_level: 'private',
  merge_requests_access_level: 'private',
  builds_access_level: 'private',
}
