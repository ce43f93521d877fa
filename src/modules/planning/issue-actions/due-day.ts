import { readDate } from '../../../api/params/dates.ts'

const dayMs = 24 * 60 * 60_000
const units: Readonly<Record<string, number>> = { day: 1, week: 7 }

const shown = (time: Date): string => time.toISOString().slice(0, 10)

/**
 * The day that a text names, as `YYYY-MM-DD` in UTC: `2030-01-02`, `today`, `tomorrow`, `in 3 days`, `in 2 weeks`, `in 1 month`.
 * Undefined for other texts and for days that do not exist.
 */
export function dueDay(text: string, now: Date): string | undefined {
  const words = text.trim().toLowerCase().replace(/^in /, '')
  if (/^\d{4}-\d{2}-\d{2}$/.test(words)) {
    const day = readDate(words)
    return typeof day === 'string' ? day : undefined
  }
  if (words === 'today') return shown(now)
  if (words === 'tomorrow') return shown(new Date(now.getTime() + dayMs))
  const [, count, unit = ''] = /^(\d{1,4}) (day|week|month)s?$/.exec(words) ?? []
  if (count === undefined) return undefined
  if (unit !== 'month') return shown(new Date(now.getTime() + Number(count) * units[unit]! * dayMs))
  const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + Number(count), 1))
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate()
  first.setUTCDate(Math.min(now.getUTCDate(), last))
  return shown(first)
}
