import { type Failure, invalidFields } from '../../../kernel/failure.ts'
import { blank, tooLong } from '../../../kernel/violations.ts'

export const refuseNote = (field: string, violation: string): Failure =>
  invalidFields({ [field]: [violation] }, 'save comment')

/** Maximum characters. */
export const longestText = 1_000_000

/** Bytes that a note counts besides its text, for the rest of its record. */
export const noteOverhead = 1000

/**
 * Maximum bytes of the notes of a discussion, because its record has all of them: more than the longest note has. Imported and older
 * discussions may be longer: their records have the first notes, up to here, and the list of their notes has all.
 */
export const longestDiscussion = 4_000_000

/**
 * Bytes of the records of a page after which no further one is read, so that a page takes a hundred megabytes of memory or two, not gigabytes.
 * Pages of the default size can have long notes, and pages of eight discussions all that these may have.
 */
export const longestPage = 32 * 1024 * 1024

export function requireText(body: string): void {
  if (body.trim() === '') throw refuseNote('note', blank)
  requireLength(body)
}

export function requireLength(body: string): void {
  if (body.length > longestText) throw refuseNote('note', tooLong(longestText))
}
