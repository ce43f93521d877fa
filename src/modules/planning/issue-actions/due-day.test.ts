import { expect, test } from 'vitest'
import { dueDay } from './due-day.ts'

test.for([
  ['2030-01-02', '2030-01-02'],
  ['2030-02-30', undefined],
  ['0000-01-01', undefined],
  ['today', '2028-01-31'],
  ['Tomorrow', '2028-02-01'],
  ['in 3 days', '2028-02-03'],
  ['2 weeks', '2028-02-14'],
  ['in 1 month', '2028-02-29'],
  ['in 13 months', '2029-02-28'],
  ['someday', undefined],
  ['', undefined],
] as const)('on the last day of January 2028, %j is %j', ([text, day]) => {
  expect(dueDay(text, new Date('2028-01-31T12:00:00Z'))).toBe(day)
})
