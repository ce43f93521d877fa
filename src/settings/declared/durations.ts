const seconds = {
  second: 1,
  minute: 60,
  hour: 3600,
  day: 86_400,
  week: 604_800,
  month: 2_592_000,
  year: 31_536_000,
} as const

type Unit = keyof typeof seconds

const short: Readonly<Record<string, Unit>> = {
  s: 'second',
  sec: 'second',
  m: 'minute',
  min: 'minute',
  h: 'hour',
  hr: 'hour',
  d: 'day',
  w: 'week',
  wk: 'week',
  mo: 'month',
  mon: 'month',
  y: 'year',
  yr: 'year',
}

const unitOf = (word: string): Unit | undefined => {
  const singular = word.replace(/s$/, '')
  return singular in seconds ? (singular as Unit) : (short[word] ?? short[singular])
}

/** Parses a duration such as `15 days`, `1 month and 2 weeks`, `2h 30m` or `0` to seconds; undefined if invalid. */
export function readDuration(text: string): number | undefined {
  const trimmed = text.trim().toLowerCase()
  if (trimmed === '0') return 0
  let total = 0
  const rest = trimmed.replaceAll(/(\d{1,9}(?:\.\d{1,3})?)\s*([a-z]+)/g, (_, number: string, word: string) => {
    const unit = unitOf(word)
    total += unit === undefined ? Number.NaN : Number(number) * seconds[unit]
    return ''
  })
  const read = Math.round(total)
  return trimmed !== '' && Number.isSafeInteger(read) && /^(\s|,|and)*$/.test(rest) && rest !== trimmed
    ? read
    : undefined
}

/** Formats a duration: `15 days`, `1 year 2 months`. */
export function durationInWords(total: number): string {
  let left = total
  const parts: string[] = []
  for (const unit of ['year', 'month', 'day', 'hour', 'minute', 'second'] as const) {
    const number = Math.floor(left / seconds[unit])
    left -= number * seconds[unit]
    if (number > 0) parts.push(`${number} ${unit}${number === 1 ? '' : 's'}`)
  }
  return parts.length === 0 ? '0' : parts.join(' ')
}

export const dayInSeconds = seconds.day
