import { type TNull, type TSchema, type TUnion, Type } from 'typebox'
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
