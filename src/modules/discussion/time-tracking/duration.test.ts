import { describe, expect, test } from 'vitest'
import { formatDuration, parseDuration } from './duration.ts'

const [h, d, w, mo] = [3600, 28_800, 144_000, 576_000]

describe('durations', () => {
  test.for([
    ['3h', 3 * h],
    ['1mo 2w 3d 4h 5m', mo + 2 * w + 3 * d + 4 * h + 300],
    ['5m 4h 3d 2w 1mo', mo + 2 * w + 3 * d + 4 * h + 300],
    ['1mo2w3d', mo + 2 * w + 3 * d],
    ['1 month, 2 weeks, 3 days', mo + 2 * w + 3 * d],
    ['2 Hours 30 Minutes 10 seconds', 2 * h + 1810],
    ['1 hr 1 min 1 sec', h + 61],
    ['1.5h', 1.5 * h],
    ['0.5d', 4 * h],
    ['2', 2 * h],
    ['1.25', 1.25 * h],
    ['1:30', 1.5 * h],
    ['10:00:05', 10 * h + 5],
    ['-2h', -2 * h],
    ['- 1d', -d],
    ['0', 0],
    ['-0h', 0],
    [' 3h ', 3 * h],
    ['2147483647s', 2_147_483_647],
  ] as const)('the duration %j is %d seconds', ([text, seconds]) => {
    expect(parseDuration(text)).toBe(seconds)
  })

  test.for([
    '',
    ' ',
    '-',
    'h',
    'one hour',
    '1y',
    '1 year',
    '1h 30',
    '1:60',
    '1:2',
    '--1h',
    '1h -30m',
    '1e3h',
    '2147483648s',
    '9'.repeat(400),
    `${'1h '.repeat(40)}`,
    '1constructor',
    '1h; drop',
  ])('%j is not a duration', (text) => {
    expect(parseDuration(text)).toBeUndefined()
  })

  test.for([
    [0, null, null],
    [59, '59s', '59s'],
    [3600, '1h', '1h'],
    [mo + 2 * w + 3 * d + 4 * h + 300, '1mo 2w 3d 4h 5m', '268h 5m'],
    [d, '1d', '8h'],
    [w - 1, '4d 7h 59m 59s', '39h 59m 59s'],
    [14 * mo, '14mo', '2240h'],
  ] as const)('%d seconds are formatted as %j, in hours %j', ([seconds, text, inHours]) => {
    expect(formatDuration(seconds)).toBe(text)
    expect(formatDuration(seconds, true)).toBe(inHours)
  })
})
