import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { expect, onTestFinished } from 'vitest'

/** Ends when its parent has become `sleep`, which does not wait for children. A shell that still ran would. */
const child = 'until [ "$(cat /proc/$PPID/comm)" = sleep ]; do sleep 0.01; done'

/** Starts a process that has ended and stays a zombie until the end of the test. Resolves to its pid. */
export async function startZombie(): Promise<number> {
  const parent = spawn('sh', ['-c', 'sh -c "$1" & echo $!; exec sleep 100', 'sh', child])
  onTestFinished(() => void parent.kill())
  const [pid] = (await once(createInterface(parent.stdout), 'line')) as [string]
  await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'utf8')).toMatch(/\) Z /)
  return Number(pid)
}
