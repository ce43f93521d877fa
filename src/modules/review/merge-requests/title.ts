/** Prefixes that say that it is not to be merged yet; several may stand in a row. */
const draft = /^\s*(\[WIP\]|WIP:|WIP\s)/i

/** Whether a title says that somebody is still at work. */
export const isWorkInProgress = (title: string): boolean => draft.test(title)

/** The same for PostgreSQL, to be matched in any case. */
export const workInProgressPattern = draft.source
