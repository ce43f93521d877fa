import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { behindProxy } from '../behind-proxy.ts'
import { waitMs } from '../waiting.ts'

test.for([
  { what: 'its eighth connection is held for 15 s', ordinal: 8, lateMs: 15_000 },
  { what: 'its database starts late', ordinal: undefined, lateMs: 5_000 },
])('the jobs process takes jobs again after it was killed, when $what', async ({ ordinal, lateMs }) => {
  const { launched, proxy, ask } = await behindProxy()
  await using _proxy = proxy
  const jobs = launched.named('stithy jobs')
  expect(jobs).toHaveLength(1)
  const before = proxy.accepted
  proxy.hold((n) => ordinal === undefined || n === before + ordinal)
  process.kill(jobs[0]!, 'SIGKILL')
  await delay(lateMs)
  proxy.release()
  const { released } = await ask('select now() as released')
  const taken = () => ask('select taken_at from job_runner').then(({ taken_at }) => taken_at > released)
  await expect.poll(taken, { timeout: 2 * waitMs, interval: 200 }).toBe(true)
})
