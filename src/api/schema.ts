import { type TNull, type TSchema, type TUnion, Type } from 'typebox'
import { memberLevels } from '../access/levels.ts'
import type { Tier } from '../kernel/plan.ts'

/** Fields of records. Parameters have their own constructors in `params/types.ts`. */

/** A value that may be null. */
export const nullable = <S extends TSchema>(
  schema: S,
  options: { description?: string; tier?: Tier } = {},
): TUnion<[S, TNull]> => Type.Union([schema, Type.Null()], options)

export const timestamp = (description?: string) =>
  Type.String({ format: 'date-time', ...(description !== undefined && { description }) })

export const dateOnly = (description?: string) =>
  Type.String({ format: 'date', ...(description !== undefined && { description }) })

/** An access level; the documentation adds the name of each value to the description. */
export const accessLevel = (description: string, values: readonly number[] = memberLevels) =>
  Type.Integer({ enum: [...values], levels: true, description })

/** The same schema with a description of its own: for a field whose value is described elsewhere. */
export const described = <S extends TSchema>(schema: S, description: string): S => withKeywords(schema, { description })

/** The same schema with more keywords. TypeBox keeps some of its marks in properties that are not enumerable. */
export const withKeywords = <S extends TSchema>(schema: S, keywords: object): S =>
  Object.assign(Object.defineProperties({} as S, Object.getOwnPropertyDescriptors(schema)), keywords)
