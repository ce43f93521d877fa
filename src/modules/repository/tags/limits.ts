/** Maximum characters of release notes. */
export const maxReleaseNotes = 1024 * 1024

/** Maximum characters of the message of an annotated tag. */
export const maxTagMessage = 1024 * 1024
