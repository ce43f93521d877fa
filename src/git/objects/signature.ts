import type { NewSignature } from './objects.ts'

/** Identity and time as recorded in a commit or tag. */
export type Signature = {
  readonly name: string
  readonly email: string
  /** Whole seconds since 1970. */
  readonly seconds: number
  /** Minutes east of UTC, by the author's clock; only for display. */
  readonly offsetMinutes: number
}

/** Parses `Ann <ann@example.com> 1700000000 +0100`. Malformed parts become empty, or 1970: old histories contain anything. */
export function parseSignature(line: string): Signature {
  const open = line.indexOf('<')
  const close = line.lastIndexOf('>')
  const when = /^ (-?\d{1,14}) ([+-])(\d{2})(\d{2})/.exec(line.slice(close + 1))
  const sign = when?.[2] === '-' ? -1 : 1
  return {
    name: (open < 0 ? line : line.slice(0, open)).trim(),
    email: open < 0 || close < open ? '' : line.slice(open + 1, close).trim(),
    seconds: when ? Number(when[1]) : 0,
    offsetMinutes: when ? sign * (Number(when[3]) * 60 + Number(when[4])) || 0 : 0,
  }
}

/** Converts it for use in another commit. Git has no times before 1970, and no zones of more than four digits. */
export const writtenAs = ({ name, email, seconds, offsetMinutes }: Signature): NewSignature => ({
  name,
  email,
  at: Math.max(0, seconds),
  zone: Math.abs(offsetMinutes) < 100 * 60 ? zoneOf(offsetMinutes) : '+0000',
})

function zoneOf(minutes: number): string {
  const size = Math.abs(minutes)
  const pad = (value: number) => String(value).padStart(2, '0')
  return `${minutes < 0 ? '-' : '+'}${pad(Math.trunc(size / 60))}${pad(size % 60)}`
}

/** The largest offset that clients can parse; real offsets are smaller. */
const farthestMinutes = 24 * 60 - 1

/** Cached, because commits are cached and formatted repeatedly. */
const formatted = new WeakMap<Signature, string>()

/** `2026-01-31T09:30:00.000+01:00`: the time in the author's zone, or in UTC if the zone is impossible. */
export function formatSignatureTime(signature: Signature): string {
  const known = formatted.get(signature)
  if (known !== undefined) return known
  const text = format(signature)
  formatted.set(signature, text)
  return text
}

function format({ seconds, offsetMinutes: written }: Signature): string {
  const offsetMinutes = Math.abs(written) > farthestMinutes ? 0 : written
  const local = new Date((seconds + offsetMinutes * 60) * 1000)
  const pad = (value: number) => String(value).padStart(2, '0')
  const size = Math.abs(offsetMinutes)
  // Beyond the range of JavaScript dates; git stores such times.
  const text = Number.isNaN(local.getTime()) ? '1970-01-01T00:00:00.000' : local.toISOString().slice(0, -1)
  return `${text}${offsetMinutes < 0 ? '-' : '+'}${pad(Math.trunc(size / 60))}:${pad(size % 60)}`
}
