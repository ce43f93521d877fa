import { createHash } from 'node:crypto'
import type { PortableRecord } from '../../../db/portable/relation.ts'

/** A record as the reference product nests it. Nothing is known of its values. */
export type Nested = PortableRecord

export const isObject = (value: unknown): value is Nested =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** The records of a nested relation. */
export const listIn = (record: Nested, name: string): readonly Nested[] => {
  const value = Object.hasOwn(record, name) ? record[name] : undefined
  return Array.isArray(value) ? value.filter(isObject) : []
}

export const oneIn = (record: Nested, name: string): Nested | undefined => {
  const value = Object.hasOwn(record, name) ? record[name] : undefined
  return isObject(value) ? value : undefined
}

/** A time in the format of our records; undefined for what is none. */
export function timeOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 40) return undefined
  const time = new Date(value.replace(/ UTC$/, 'Z'))
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}

/** Forty hexadecimal digits that are the same for the same text. */
export const hexOf = (text: string): string => createHash('sha1').update(text).digest('hex')

/** Some of the values, under their own names. */
export const pick = (record: Nested, ...names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.flatMap((name) => (Object.hasOwn(record, name) ? [[name, record[name]]] : [])))

/** Times of creation and of the last change; the first replaces a missing second. */
export function timesOf(record: Nested): { created_at: string | undefined; updated_at: string | undefined } {
  const created_at = timeOf(record['created_at'])
  return { created_at, updated_at: timeOf(record['updated_at']) ?? created_at }
}

/** A value that is no list and no object: these may be nested deeper than can be written. */
export const scalar = (value: unknown): unknown => (value !== null && typeof value === 'object' ? undefined : value)

/** A colour with six digits, of which one with three is an abbreviation. */
export const colorOf = (value: unknown): unknown =>
  typeof value === 'string' && /^#[0-9a-fA-F]{3}$/.test(value) ? value.replace(/[^#]/g, '$&$&') : value

/** Whether a name may be that of a relation, to be shown to users. */
export const isRelationName = (name: string): boolean => /^[a-z_]{1,60}$/.test(name)
