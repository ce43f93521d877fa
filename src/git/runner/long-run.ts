import { settingsEnv } from './environment.ts'

/** Options for git when it reads or writes whole packs while no client waits. */
export const longRun = {
  lane: 'transfer',
  background: true,
  timeoutMs: 6 * 60 * 60_000,
  // One thread: even low-priority threads delay requests, because a process woken on a busy processor waits for the end of the
  // time slice.
  env: settingsEnv([
    ['pack.threads', '1'],
    // Git does not detect an index of all packs that a power loss damaged.
    ['core.fsync', 'committed,reference,pack-metadata'],
  ]),
} as const
