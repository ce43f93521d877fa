import { spawn } from 'node:child_process'
import type { Owner } from './owner.ts'

/** A line means that no process is left to signal; the end of the input, that this process has ended. */
const watchScript = 'read -r line || kill -INT "$1"'

/**
 * Makes PostgreSQL stop when this process ends for any reason: a shell reads from a pipe of this process, which the kernel closes,
 * and then asks PostgreSQL to shut down. A watcher that is killed is replaced.
 */
export function tieToUs(pid: number, owner: Owner, exited: Promise<void>): void {
  let running = true
  const watch = () => {
    const watcher = spawn('/bin/sh', ['-c', watchScript, 'sh', String(pid)], {
      cwd: '/',
      env: {},
      ...(owner.drop && { uid: owner.uid, gid: owner.gid }),
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    watcher.stdin.on('error', () => {})
    watcher.on('error', () => {})
    watcher.on('exit', () => {
      if (running) watch()
    })
    // Another process may soon have its pid.
    exited.then(() => watcher.stdin.end('gone\n'))
  }
  exited.then(() => {
    running = false
  })
  watch()
}
