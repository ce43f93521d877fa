/** Maximum groups of an archive. */
export const maxGroups = 10_000
