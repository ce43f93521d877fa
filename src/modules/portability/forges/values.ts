import { isMailAddress } from '../../../kernel/mail-address.ts'
import { storable } from '../../../kernel/storable.ts'
import type { Person } from '../records/people.ts'
import { LeftOut } from './items.ts'

/** A JSON object of a forge. Nothing is known of its values. */
export type Given = Readonly<Record<string, unknown>>

/** The value as an object; undefined for anything else. */
export const objectIn = (value: unknown): Given | undefined =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Given) : undefined

/** The first elements of a list; none of anything else. */
export const listIn = (value: unknown, most = 1000): readonly unknown[] =>
  Array.isArray(value) ? value.slice(0, most) : []

/** Text that PostgreSQL stores, cut at a length. Null for anything else. */
export const textIn = (value: unknown, maxLength: number): string | null =>
  typeof value === 'string' ? storable(value.slice(0, maxLength)) : null

/** Text on one line; null if it is empty. */
export const lineIn = (value: unknown, maxLength: number): string | null => {
  const line = textIn(value, 4 * maxLength)
    ?.replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, maxLength)
    .toWellFormed()
  return line === undefined || line === '' ? null : line
}

/** Leaves numbers for what comes after the import. */
const largest = 1_000_000_000

/** A number of an issue, a line and the like. */
export const numberIn = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= largest ? (value as number) : undefined

/** An id of the forge. */
export const idIn = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 1 ? (value as number) : undefined

/** A time in the form of archives; null for anything else, and for times that no forge knew. */
export function timeIn(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > 40 || !/^\d{4}-\d\d-\d\dT/.test(value)) return null
  const time = new Date(value)
  const year = time.getUTCFullYear()
  return Number.isNaN(time.getTime()) || year < 1971 || year > 9999 ? null : time.toISOString()
}

/** The day of a time. */
export const dayIn = (value: unknown): string | null => timeIn(value)?.slice(0, 10) ?? null

export const oidIn = (value: unknown): string | null =>
  typeof value === 'string' && /^[0-9a-f]{40}$/.test(value) ? value : null

/** A colour with or without `#`; grey for anything else. */
export const colorIn = (value: unknown): string => {
  const digits = typeof value === 'string' ? /^#?([0-9a-fA-F]{6})$/.exec(value)?.[1] : undefined
  return `#${(digits ?? '808080').toLowerCase()}`
}

/** A title as labels may have it: names are separated by commas elsewhere. */
export const labelTitleIn = (value: unknown): string | null => lineIn(lineIn(value, 255)?.replaceAll(',', ' '), 255)

export const maxBody = 1_000_000

/** A user of the forge; null if the account was deleted. */
export function personIn(value: unknown): Person | null {
  const user = objectIn(value)
  const username = lineIn(user?.['login'], 255)
  if (!user || username === null) return null
  const email = lineIn(user['email'], 255)
  return {
    username,
    name: lineIn(user['full_name'], 255) ?? lineIn(user['name'], 255) ?? username,
    email: email !== null && isMailAddress(email) ? email : null,
  }
}

export const peopleIn = (value: unknown): Person[] => listIn(value, 100).flatMap((each) => personIn(each) ?? [])

/** The value, or `LeftOut`. */
export function required<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new LeftOut(`${what} is missing or not valid`)
  return value
}

/** The number at the end of an address such as `https://forge.example/repos/a/b/issues/12`. */
export const numberAtEnd = (value: unknown): number | undefined =>
  typeof value === 'string' ? numberIn(Number(/\/(?:issues|pulls)\/(\d{1,10})(?:[#?]|$)/.exec(value)?.[1])) : undefined
