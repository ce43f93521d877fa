import { spawn } from 'node:child_process'
import type { Owner } from './owner.ts'

/** A line means that there is nobody left to signal; the end of input, that we are gone. */
const watchScript = 'read -r line || kill -INT "$1"'

/**
 * Makes PostgreSQL stop when this process dies, however it dies: a shell reads from a pipe of ours, which the kernel
 * closes when we are gone, and then asks PostgreSQL to shut down. A watcher that is killed is replaced.
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
    // Its number may soon be somebody else's.
    exited.then(() => watcher.stdin.end('gone\n'))
  }
  exited.then(() => {
    running = false
  })
  watch()
}
