/** Prefixes that mark a merge request as a draft; several may follow one another. */
const draft = /^\s*(\[WIP\]|WIP:|WIP\s)/i

/** Whether a title marks the merge request as a draft. */
export const isWorkInProgress = (title: string): boolean => draft.test(title)

/** The same as a regular expression of PostgreSQL, to be matched case-insensitively. */
export const workInProgressPattern = draft.source
