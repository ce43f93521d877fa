/*
 * The wall clock is set by people and by time servers, and may jump. Durations are measured with `performance.now()`, which never
 * jumps. Ages of files and rows need the wall clock: these functions make sure that a jump makes nothing old that is not.
 */

const offset = (): number => Date.now() - performance.now()

const offsetAtStart = offset()

/** How far the wall clock has jumped since this process started, in ms; negative when it was set back. */
export const clockJump = (): number => offset() - offsetAtStart

/** A moment that was at least `ms` ago, also when the clock was set forward meanwhile. */
export const longAgo = (ms: number): Date => new Date(Date.now() - ms - Math.max(0, clockJump()))

/**
 * For how long a file has been there, in ms, by the time of its last change. At least so long: less than the truth where the clock was
 * set forward. A file of the future was made before the clock was set back.
 */
export function ageOf(mtimeMs: number): number {
  const age = Date.now() - mtimeMs
  const jump = clockJump()
  return jump > 0 || age < 0 ? age - jump : age
}
