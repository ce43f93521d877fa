import { setForChildrenUnlessSet } from '../config.ts'

/**
 * V8's settings for the HTTP workers. Young objects have up to 48 MB, as by default: with a fourth, requests that wait
 * at once survive collections and most calls take a tenth more CPU time. By default V8 lets the old objects of a large machine grow to a
 * multiple of those in use before it collects them.
 */
export const workerFlags = [
  '--max-semi-space-size=16',
  '--initial-old-space-size=32',
  '--heap-growing-percent=100',
  '--expose-gc',
]

/** For the jobs process, where no client waits for a response. */
export const jobsFlags = [
  '--max-semi-space-size=8',
  '--initial-old-space-size=32',
  '--heap-growing-percent=40',
  '--expose-gc',
]

/** Settings of glibc, by default tuned for speed of programs with many threads; Node allocates in few. */
const malloc = {
  // Each arena keeps what it once had.
  MALLOC_ARENA_MAX: '2',
  // Buffers from 256 KB are returned to the system when they are freed, instead of leaving holes.
  MALLOC_MMAP_THRESHOLD_: '262144',
  MALLOC_TRIM_THRESHOLD_: '1048576',
}

/** Applies to all processes started from now on; variables of the operator have precedence. */
export function saveMemoryInChildren(): void {
  for (const [name, value] of Object.entries(malloc)) setForChildrenUnlessSet(name, value)
}
