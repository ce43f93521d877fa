import type { Stats } from 'node:fs'
import { wallClockMs } from '../../kernel/clock.ts'

/** What changes when a file is replaced, or a folder gets or loses an entry. Caches of what is in it compare this. */
export const identityOf = ({ ino, mtimeMs, size }: Pick<Stats, 'ino' | 'mtimeMs' | 'size'>): string =>
  `${ino} ${mtimeMs} ${size}`

const settledAfterMs = 2000

/**
 * Whether what was read at a time of the wall clock (default: now) has its own modification time: a more recent one may be shared with the
 * next modification. Not by the age (`ageOf`): files have their times from the wall clock, and after it was set back, the same time
 * comes again.
 */
export const isSettled = (mtimeMs: number, at = wallClockMs()): boolean => at - mtimeMs > settledAfterMs
