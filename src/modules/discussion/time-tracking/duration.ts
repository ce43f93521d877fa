const minute = 60
const hour = 60 * minute
/** Working time: a day has eight hours, a week five days, a month four weeks. */
const day = 8 * hour
const week = 5 * day
const month = 4 * week

const units: Readonly<Record<string, number>> = Object.fromEntries(
  (
    [
      [month, 'mo mos month months'],
      [week, 'w wk wks week weeks'],
      [day, 'd dy day days'],
      [hour, 'h hr hrs hour hours'],
      [minute, 'm min mins minute minutes'],
      [1, 's sec secs second seconds'],
    ] as const
  ).flatMap(([seconds, names]) => names.split(' ').map((name) => [name, seconds])),
)

/** Seconds. The maximum that the database can store. */
export const longestDuration = 2_147_483_647

/**
 * Parses `1mo 2w 3d 4h 5m` to seconds, in any order and with long names, too; also `1:30` and `1:30:00`; a plain number is hours. A
 * leading minus makes it negative. Undefined for any other text. Source: supplement to the API documents, "Time tracking".
 */
export function parseDuration(text: string): number | undefined {
  const [, minus, rest] = /^\s*(-?)\s*(.*?)\s*$/s.exec(text.slice(0, 100).toLowerCase())!
  if (text.length > 100) return undefined
  const seconds = secondsOf(rest!)
  if (seconds === undefined || seconds > longestDuration) return undefined
  return minus && seconds > 0 ? -seconds : seconds
}

function secondsOf(text: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * hour)
  const clock = /^(\d+):([0-5]\d)(?::([0-5]\d))?$/.exec(text)
  if (clock) return Number(clock[1]) * hour + Number(clock[2]) * minute + Number(clock[3] ?? 0)
  if (!/^(\d+(\.\d+)?\s*[a-z]+[\s,]*)+$/.test(text)) return undefined
  let total = 0
  for (const [, number, name] of text.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/g)) {
    if (!Object.hasOwn(units, name!)) return undefined
    total += Number(number) * units[name!]!
  }
  return Math.round(total)
}

const shown = [
  [month, 'mo'],
  [week, 'w'],
  [day, 'd'],
  [hour, 'h'],
  [minute, 'm'],
  [1, 's'],
] as const

/** Formats seconds as `1mo 2w 3d 4h 5m`, largest unit first; with `toHours` no unit is larger than the hour. Null for 0. */
export function formatDuration(seconds: number, toHours = false): string | null {
  const parts: string[] = []
  let rest = seconds
  for (const [size, name] of shown) {
    if (toHours && size > hour) continue
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count}${name}`)
  }
  return parts.length > 0 ? parts.join(' ') : null
}
