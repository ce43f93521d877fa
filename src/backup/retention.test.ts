import { expect, test } from 'vitest'
import { backupsToKeep } from './retention.ts'

const at = (time: string) => `${time.replace(/[-:]/g, '')}Z-00000000`

/** Three each day of 2026 until the middle of March. */
const ids = Array.from({ length: 74 * 3 }, (_, n) => {
  const time = new Date(Date.UTC(2026, 0, 1, 2) + n * 8 * 60 * 60_000)
  return at(time.toISOString().slice(0, 19))
})

test('the newest backup of each day, week and month is kept', () => {
  expect([...backupsToKeep(ids, { days: 3, weeks: 2, months: 2 })].sort()).toEqual([
    at('2026-02-28T18:00:00'),
    at('2026-03-08T18:00:00'),
    at('2026-03-13T18:00:00'),
    at('2026-03-14T18:00:00'),
    at('2026-03-15T18:00:00'),
  ])
})

test('the newest backup is always kept', () => {
  expect([...backupsToKeep(ids, { days: 0, weeks: 0, months: 0 })]).toEqual([at('2026-03-15T18:00:00')])
  expect(backupsToKeep([], { days: 1, weeks: 1, months: 1 }).size).toBe(0)
})

test('days without a backup do not count', () => {
  const rare = [at('2025-01-01T00:00:00'), at('2025-06-01T00:00:00'), at('2026-01-01T00:00:00')]
  expect([...backupsToKeep(rare, { days: 2, weeks: 0, months: 0 })].sort()).toEqual(rare.slice(1))
})
