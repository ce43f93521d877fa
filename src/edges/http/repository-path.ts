/**
 * Source of a pattern that captures a full path at the beginning of an address. The letters of full paths, and nothing
 * else: no escape, no dot segment reaches further.
 */
export const repositoryPath = `((?:[A-Za-z0-9_.-]+/)+[A-Za-z0-9_.-]+?)`
