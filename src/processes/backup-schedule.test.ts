import { expect, test } from 'vitest'
import { type BackupRun, BackupSchedule, isDue } from './backup-schedule.ts'

const at = (time: string) => new Date(`2026-03-01T${time}Z`)

test.for([
  ['a time between both', [150], '02:29:55', '02:30:05', true],
  ['a time that is reached exactly', [150], '02:29:55', '02:30:00', true],
  ['a time that was reached before', [150], '02:30:00', '02:30:10', false],
  ['no time', [], '00:00:00', '23:59:59', false],
  ['a clock that was set back', [150], '02:31:00', '02:20:00', false],
  ['one of two times', [150, 870], '14:29:59', '14:30:01', true],
] as const)('isDue with %s', ([, times, from, to, due]) => {
  expect(isDue(times, at(from), at(to))).toBe(due)
})

test('isDue at midnight, and for a time of the day before', () => {
  expect(isDue([0], new Date('2026-02-28T23:59:58Z'), at('00:00:01'))).toBe(true)
  expect(isDue([1439], new Date('2026-02-28T23:58:00Z'), at('00:05:00'))).toBe(true)
})

test('a schedule starts one backup at each time, and none while one runs', async () => {
  const started: PromiseWithResolvers<void>[] = []
  const said: string[] = []
  let stopped = 0
  const start = (): BackupRun => {
    const ended = Promise.withResolvers<void>()
    started.push(ended)
    const stop = () => {
      stopped++
      ended.resolve()
    }
    return { ended: ended.promise, stop }
  }
  await using schedule = new BackupSchedule(
    { at: [150, 151, 152], start, say: (line) => void said.push(line) },
    at('02:00:00'),
  )
  schedule.look(at('02:30:03'))
  schedule.look(at('02:30:13'))
  expect(started).toHaveLength(1)
  schedule.look(at('02:31:03'))
  expect([started.length, said.length]).toEqual([1, 1])
  started[0]!.resolve()
  await started[0]!.promise
  await Promise.resolve()
  schedule.look(at('02:32:03'))
  expect(started).toHaveLength(2)
  await schedule[Symbol.asyncDispose]()
  expect(stopped).toBe(1)
})
