import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type LastBackup, periodOf, type Success } from '../backup/last-backup.ts'
import { checkBackup, findingsOf } from './doctor-backup.ts'
import { temporaryFolder } from './testing/launch.ts'

const at = 'T02:30:00.000Z'
const success: Success = {
  id: '20260102T023000Z-00000000',
  ended_at: `2026-01-02${at}`,
  seconds: 12,
  bytes: 1,
  stored_bytes: 1,
  problems: 0,
}
const succeeded: LastBackup = { place: '/backup/stithy', ended_at: success.ended_at, result: 'succeeded', success }
const textsOf = (last: LastBackup | undefined, times: readonly number[], now: string) =>
  findingsOf(last, times, new Date(now)).map(({ level, text }) => `${level}: ${text}`)

test('the period of a schedule is the longest time between two backups', () => {
  expect([[150], [150, 870], [0, 60, 1439], [150, 150]].map((times) => periodOf(times) / 60_000)).toEqual([
    1440, 720, 1379, 1440,
  ])
})

test('doctor warns of a schedule whose last success is older than two periods, and not before', () => {
  expect(textsOf(succeeded, [150], '2026-01-04T02:29:00Z')).toEqual(['ok: the last one ended 48 hours ago, took 12 s'])
  expect(textsOf(succeeded, [150], '2026-01-04T02:31:00Z')).toEqual([
    'warning: STITHY_BACKUP_AT is set, and the last one that succeeded ended 48 hours ago',
  ])
  expect(textsOf(succeeded, [150, 870], '2026-01-03T02:31:00Z')).toHaveLength(1)
  expect(textsOf(succeeded, [], '2027-01-01T00:00:00Z')).toEqual([expect.stringMatching(/^ok/)])
  expect(textsOf(undefined, [150], '2026-01-04T02:29:00Z')).toEqual([
    'warning: STITHY_BACKUP_AT is set, and no backup has succeeded yet',
  ])
})

test('doctor warns of a failed backup and of one with problems', () => {
  const failed: LastBackup = { ...succeeded, result: 'failed', reason: 'There is no room', ended_at: `2026-01-03${at}` }
  expect(textsOf(failed, [150], '2026-01-03T03:00:00Z')).toEqual([
    'warning: the last one, of 2026-01-03T02:30:00.000Z, failed: There is no room',
  ])
  expect(textsOf({ ...succeeded, result: 'with_problems' }, [], '2026-01-03T03:00:00Z')).toHaveLength(1)
})

test('doctor reports a key of backups that cannot be read, and one that is too short', async () => {
  const dataDir = await temporaryFolder()
  const keyFile = join(dataDir, 'backup.key')
  const found = async () => {
    const all = await checkBackup({ dataDir, backup: { url: undefined, at: [], keep: undefined, rate: 50, keyFile } })
    return all.map(({ level, text }) => `${level}: ${text}`)
  }
  expect(await found()).toEqual([
    expect.stringMatching(/^failed: Cannot read the key of the backups \(STITHY_BACKUP_KEY_FILE\): ENOENT.*[^.]$/),
  ])
  await writeFile(keyFile, 'short')
  expect(await found()).toEqual([expect.stringMatching(/^failed: The key in .* must have at least \d+ characters/)])
  await writeFile(keyFile, 'a'.repeat(64))
  expect(await found()).toEqual([expect.stringMatching(/^ok: /)])
})
