import type { DateOnly, Timestamp } from './types.ts'

declare const value: unique symbol

/** The kind of a column: its types in PostgreSQL, the type of its values in JavaScript, and whether it may be null. */
export type Kind<Value> = {
  /** For messages. */
  readonly name: string
  /** OIDs of the types that the column may have in the statement. */
  readonly types: readonly number[]
  /** `excluded`: the column could be null by its definition, but no row that the statement returns has a null in it. */
  readonly nulls: 'refused' | 'allowed' | 'excluded'
  /** All possible values; any value if absent. */
  readonly values?: ReadonlySet<unknown>
  /** Whether statements with the shape may lack the column. */
  readonly optional?: boolean
  /** Exists in the type only. */
  readonly [value]?: Value
}

/**
 * The columns of a row, each with its kind. Shapes are plain objects, so they compose by spreading. Every column of the
 * statement is in the shape, and every column of the shape in the statement: tests compare both (docs/adr/0021).
 */
export type Shape = Readonly<Record<string, Kind<unknown>>>

/** Columns that only some of the statements have. */
type OptionalColumns<S extends Shape> = {
  [C in keyof S]: S[C] extends { readonly optional: true } ? C : never
}[keyof S]
type ValueOf<K> = K extends Kind<infer Value> ? Value : never

/** A row as a statement with this shape returns it. */
export type RowOf<S extends Shape> = [OptionalColumns<S>] extends [never]
  ? { -readonly [C in keyof S]: ValueOf<S[C]> }
  : { -readonly [C in Exclude<keyof S, OptionalColumns<S>>]: ValueOf<S[C]> } & {
      -readonly [C in OptionalColumns<S>]?: ValueOf<S[C]>
    }

const kind = <Value>(name: string, ...types: number[]): Kind<Value> => ({ name, types, nulls: 'refused' })

const [int2, int4, int8, float4, float8] = [21, 23, 20, 700, 701]
const [textType, varchar, name, char, inet, uuid, xid8] = [25, 1043, 19, 18, 869, 2950, 5069]

/** A column of any type that no caller reads: the result of a function called for its effect. */
export const unused: Kind<unknown> = { ...kind('unused'), nulls: 'allowed' }
/** Integers of every size. Above 2^53 they lose precision, which no column comes near. */
export const integer: Kind<number> = kind('integer', int2, int4, int8)
export const double: Kind<number> = kind('double', float4, float8)
export const boolean: Kind<boolean> = kind('boolean', 16)
/** Values that the driver returns as strings: text, also IP addresses and UUIDs. */
export const text: Kind<string> = kind('text', textType, varchar, name, char, inet, uuid, xid8)
export const bytes: Kind<Buffer> = kind('bytes', 17)
export const timestamp: Kind<Timestamp> = kind('timestamp', 1184)
export const date: Kind<DateOnly> = kind('date', 1082)

/** Text of a narrower type. No check compares the values with it: `oneOf` does. */
export const textOf = <Value extends string>(): Kind<Value> => text as Kind<Value>

const jsonKind = kind<unknown>('json', 114, 3802)
/** `json` or `jsonb`. No check compares the content with the type. */
export const json = <Value>(): Kind<Value> => jsonKind as Kind<Value>

/** Text or integers out of a closed set. */
export function oneOf<const Value extends string | number>(...values: readonly Value[]): Kind<Value> {
  const { types } = typeof values[0] === 'number' ? integer : text
  return { name: `oneOf(${values.join(', ')})`, types, nulls: 'refused', values: new Set(values) }
}

const arrays: Readonly<Record<number, number>> = {
  ...{ [int2]: 1005, [int4]: 1007, [int8]: 1016, [float8]: 1022, 16: 1000, 17: 1001 },
  ...{ [textType]: 1009, [varchar]: 1015, [name]: 1003, [uuid]: 2951, 1184: 1185, 1082: 1182 },
}

/** An array without nulls. */
export const listOf = <Value>(element: Kind<Value>): Kind<Value[]> =>
  kind(`listOf(${element.name})`, ...element.types.flatMap((type) => arrays[type] ?? []))

/** An array without nulls, or null. */
export const nullable = <Value>(of: Kind<Value>): Kind<Value | null> => ({
  ...(of as Kind<Value | null>),
  name: `nullable(${of.name})`,
  nulls: 'allowed',
})

/** For a column that could be null by its definition, but is not in this statement, because a condition excludes it. */
export const notNull = <Value>(of: Kind<Value>): Kind<NonNullable<Value>> => ({
  ...(of as Kind<NonNullable<Value>>),
  name: `notNull(${of.name})`,
  nulls: 'excluded',
})

/** For a column that only some of the statements with the shape have: its property may be absent. */
export const optional = <Value>(of: Kind<Value>): Kind<Value> & { readonly optional: true } => ({
  ...of,
  optional: true,
})

/** Every column may be null, as those of a table that is joined by `left join`. */
export const allNullable = <S extends Shape>(shape: S): { readonly [C in keyof S]: NullableKind<S[C]> } =>
  Object.fromEntries(Object.entries(shape).map(([column, of]) => [column, nullable(of)])) as never

type NullableKind<K> = K extends Kind<infer Value> ? Kind<Value | null> : never

/** Some of the columns. */
export const pick = <S extends Shape, C extends keyof S & string>(shape: S, ...columns: readonly C[]): Pick<S, C> =>
  Object.fromEntries(columns.map((column) => [column, shape[column]])) as Pick<S, C>

/** All columns but these. */
export const omit = <S extends Shape, C extends keyof S & string>(shape: S, ...columns: readonly C[]): Omit<S, C> =>
  Object.fromEntries(Object.entries(shape).filter(([column]) => !columns.includes(column as C))) as never
