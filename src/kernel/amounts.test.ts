import { expect, test } from 'vitest'
import { counted, inMegabytes } from './amounts.ts'

test('one of something is singular, and none or several are plural', () => {
  expect([0, 1, 2].map((count) => counted(count, 'blob'))).toEqual(['0 blobs', '1 blob', '2 blobs'])
  expect([0, 1, 2].map((count) => counted(count, 'repository', 'repositories'))).toEqual([
    '0 repositories',
    '1 repository',
    '2 repositories',
  ])
})

test('bytes are shown in megabytes of a million bytes', () => {
  expect([0, 49_999, 50_000, 12_345_678].map(inMegabytes)).toEqual(['0.0 MB', '0.0 MB', '0.1 MB', '12.3 MB'])
})
