import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'

/** Gives a process a lower priority (`os.constants.priority`), so that others have the processor first. Nothing changes if it has ended. */
export function lowerPriority(pid: number, priority: number): void {
  try {
    setPriority(pid, priority)
  } catch {
    // The process has ended or has a lower priority already.
  }
}

/**
 * The same for a process with a session of its own: Linux may schedule sessions before the processes in them. In the session of another
 * process it would lower that one, too.
 */
export function lowerSessionPriority(pid: number, priority: number): void {
  lowerPriority(pid, priority)
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(priority))
  } catch {
    // The process has ended, or the system has no autogroups.
  }
}
