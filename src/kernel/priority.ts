import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'

/** Gives a process a lower priority (`os.constants.priority`), so that others have the processor first. Nothing changes if it has ended. */
export function lowerPriority(pid: number, priority: number): void {
  try {
    setPriority(pid, priority)
    // Linux may schedule sessions before the processes in them.
    writeFileSync(`/proc/${pid}/autogroup`, String(priority))
  } catch {
    // The process has ended or has a lower priority already, or the system has no autogroups.
  }
}
