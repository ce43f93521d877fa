/*
 * The wall clock may jump when an administrator or a time server sets it. Measure durations with `performance.now()`, which
 * never jumps. Ages of files and rows need the wall clock; these functions ensure that a jump never makes a recent item look
 * old.
 */

const offset = (): number => Date.now() - performance.now()

const offsetAtStart = offset()

/** How far the wall clock has jumped since the process started, in ms; negative if it was set back. */
export const clockJump = (): number => offset() - offsetAtStart

/** A time at least `ms` ago, even if the clock was set forward meanwhile. */
export const longAgo = (ms: number): Date => new Date(Date.now() - ms - Math.max(0, clockJump()))

/**
 * Age of a file in ms, from its modification time. Underestimates if the clock was set forward. A modification time in the
 * future means that the clock was set back since.
 */
export function ageOf(mtimeMs: number): number {
  const age = Date.now() - mtimeMs
  const jump = clockJump()
  return jump > 0 || age < 0 ? age - jump : age
}

/** The time of the wall clock in ms, for comparing it with that of another machine, or with the times of files that it gave. */
export const wallClockMs = (): number => Date.now()
