import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { expect, onTestFinished, test } from 'vitest'
import { lowerPriority, lowerSessionPriority } from './priority.ts'

const groupOf = (pid: number | 'self') => readFileSync(`/proc/${pid}/autogroup`, 'utf8')

function sleeping(detached: boolean): number {
  const child = spawn('sleep', ['60'], { detached, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child.pid!
}

test('a process has a lower priority without the others of its session', ({ skip }) => {
  const [pid, own] = [sleeping(false), getPriority()]
  skip(!existsSync('/proc/self/autogroup'), 'this system has no autogroups')
  const session = groupOf('self')
  lowerPriority(pid, 15)
  expect([getPriority(pid), getPriority()]).toEqual([15, own])
  expect([groupOf(pid), groupOf('self')]).toEqual([session, session])
})

test('a session of its own has a lower priority', ({ skip }) => {
  const pid = sleeping(true)
  skip(!existsSync('/proc/self/autogroup'), 'this system has no autogroups')
  const session = groupOf('self')
  lowerSessionPriority(pid, 15)
  expect(getPriority(pid)).toBe(15)
  expect([groupOf(pid), groupOf('self')]).toEqual([expect.stringContaining('nice 15'), session])
})

test('a process that has ended is no error', () => {
  const ended = 2 ** 22 + 1
  lowerPriority(ended, 10)
  lowerSessionPriority(ended, 10)
})
