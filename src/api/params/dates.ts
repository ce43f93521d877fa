import type { RawValue } from './raw.ts'
import { isInvalid, type Violation } from './violation.ts'

const dateOnly = /^(\d{4})-(\d{2})-(\d{2})$/
const extended =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,12}))?)? ?(?:([Zz])|([+\- ])(\d{2}):?(\d{2})?)?)?$/
const basic =
  /^(\d{4})(\d{2})(\d{2})(?:[Tt](\d{2})(\d{2})(?:(\d{2})(?:[.,](\d{1,12}))?)?(?:([Zz])|([+\- ])(\d{2}):?(\d{2})?)?)?$/

/** Whether the (proleptic Gregorian) calendar has the day; PostgreSQL has no year 0. */
function isCalendarDay(year: number, month: number, day: number): boolean {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const length = month === 2 ? (leap ? 29 : 28) : month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
  return day <= length
}

/** The first and the last time that records can show, of four digits of the year in UTC. */
const [first, last] = [Date.parse('0001-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')]

/**
 * Parses any ISO 8601 date-time, basic or extended; a date alone is midnight, no zone means UTC. Truncates to milliseconds. What its zone moves
 * beyond the years 1 to 9999 is the first or last time of these: such times mean "always" and "never".
 */
export function readTimestamp(raw: RawValue): Date | Violation {
  if (typeof raw !== 'string' || raw.length > 48) return isInvalid
  const parts = extended.exec(raw) ?? basic.exec(raw)
  if (parts === null) return isInvalid
  const number = (group: number): number => Number(parts[group] ?? 0)
  const [year, month, day, hour, minute, second] = [number(1), number(2), number(3), number(4), number(5), number(6)]
  if (!isCalendarDay(year, month, day) || minute > 59 || second > 60 || number(10) > 23 || number(11) > 59)
    return isInvalid
  if (hour > 23 && !(hour === 24 && minute === 0 && second === 0)) return isInvalid
  const millisecond = Number((parts[7] ?? '').slice(0, 3).padEnd(3, '0'))
  // Compat: a `+` that a client did not encode in a query string arrives as a blank.
  const offsetMinutes = (number(10) * 60 + number(11)) * (parts[9] === '-' ? -1 : 1)
  const date = new Date(0)
  // Not Date.UTC, which maps the years 0 to 99 to 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute - offsetMinutes, second, millisecond)
  return new Date(Math.min(Math.max(date.getTime(), first), last))
}

/** A calendar day as text, or the day that a date-time names in its own zone. */
export function readDate(raw: RawValue): string | Violation {
  if (typeof raw !== 'string') return isInvalid
  if (raw.length > 10 && !(readTimestamp(raw) instanceof Date)) return isInvalid
  const parts = dateOnly.exec(raw.slice(0, 10))
  if (parts === null || !isCalendarDay(Number(parts[1]), Number(parts[2]), Number(parts[3]))) return isInvalid
  return parts[0]
}
