import { type TSchema, type TUnion, type TNull, Type } from 'typebox'

/** Fields of records. Parameters have their own constructors in `params/types.ts`. */

/** A value that may be missing: shown as null. */
export const nullable = <S extends TSchema>(schema: S): TUnion<[S, TNull]> => Type.Union([schema, Type.Null()])

export const timestamp = (description?: string) =>
  Type.String({ format: 'date-time', ...(description !== undefined && { description }) })

export const dateOnly = (description?: string) =>
  Type.String({ format: 'date', ...(description !== undefined && { description }) })
