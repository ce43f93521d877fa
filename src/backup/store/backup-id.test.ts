import { expect, test } from 'vitest'
import { isBackupId, newBackupId, timeOf } from './backup-id.ts'

const moment = new Date('2026-11-23T10:15:30.999Z')

test('the id of a backup has its time in seconds', () => {
  const id = newBackupId(moment, '20261123T101529Z-ffffffff')
  expect(id).toMatch(/^20261123T101530Z-[0-9a-f]{8}$/)
  expect([isBackupId(id), isBackupId(`${id}~`), timeOf(id)]).toEqual([true, false, new Date('2026-11-23T10:15:30Z')])
})

test.for([
  ['of the same second', '20261123T101530Z-ffffffff', '20261123T101531Z'],
  ['of a clock that was ahead', '20261231T235959Z-ffffffff', '20270101T000000Z'],
] as const)('the id of a backup sorts after one %s', ([, other, time]) => {
  expect(newBackupId(moment, undefined)).toMatch(/^20261123T101530Z-/)
  expect(newBackupId(moment, other)).toMatch(new RegExp(`^${time}-`))
})
