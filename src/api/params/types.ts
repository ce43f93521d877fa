import {
  type Static,
  type TArray,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
} from 'typebox'
import type { Tier } from '../../kernel/plan.ts'
import type { ParamRules } from './schema.ts'
import type { UploadedFile } from './uploaded-file.ts'

/** Options of every parameter. One with a `default` is optional, and always present in the result. */
export type ParamOptions<T> = {
  description?: string
  default?: T
  /** The smallest plan that offers it; below it, the parameter is unknown. */
  tier?: Tier
  deprecated?: boolean
  examples?: readonly unknown[]
  /** Values that the handler accepts and checks itself. For the documentation. */
  known?: readonly T[]
  /** `true`: the values are access levels, which the documentation names. */
  levels?: true
}

/** Adds a default to the type, where `ParamsOf` finds it. */
type Defaulted<S extends TSchema, O> = O extends { default: infer D } ? S & { default: D } : S

type Blank = {
  /** `false` rejects empty and blank text: `ref is empty`. */
  blank?: false
}

export type TextOptions = ParamOptions<string> &
  Blank & {
    maxLength?: number
    minLength?: number
    pattern?: string
    /** `true`: an empty text is a value in requests that read, too; otherwise it counts as absent. */
    emptyMatches?: boolean
    /** Another parameter that newer clients send instead: it counts as this one if this one is absent. */
    newerName?: string
  }

/** Text. Converts numbers and booleans in JSON to text. */
export const Text = <const O extends TextOptions>(options?: O): Defaulted<TUnsafe<string>, O> =>
  made({ type: 'string' }, options)

/** Text that must not be blank. */
export const Filled = <const O extends Omit<TextOptions, 'blank'>>(options?: O): Defaulted<TUnsafe<string>, O> =>
  made({ type: 'string', blank: false }, options)

/** Path of a file in a repository: no `..` and no line break. Git checks the rest. */
export const FilePath = <const O extends Omit<TextOptions, 'pattern'>>(options?: O): Defaulted<TUnsafe<string>, O> =>
  made({ type: 'string', filePath: true }, options)

export type FlagOptions = ParamOptions<boolean> & {
  /** Rejects true, and says why: a parameter that protects something must not be ignored where that does not exist. */
  onlyFalse?: string
}

/** Accepts true, 1, on, t, y, yes and their opposites. */
export const Flag = <const O extends FlagOptions>(options?: O): Defaulted<TUnsafe<boolean>, O> =>
  made({ type: 'boolean' }, options)

export type BoundedOptions = ParamOptions<number> & { minimum?: number; maximum?: number }

/** A whole number; without bounds, one that fits the database's `integer`. */
export const Whole = <const O extends BoundedOptions>(options?: O): Defaulted<TUnsafe<number>, O> =>
  made({ type: 'integer' }, options)

/** Id of a row. Zero and negative numbers are accepted and find nothing. */
export const Id = <const O extends ParamOptions<number>>(options?: O): Defaulted<TUnsafe<number>, O> =>
  made({ type: 'integer' }, options)

/** Any number. */
export const Decimal = <const O extends BoundedOptions>(options?: O): Defaulted<TUnsafe<number>, O> =>
  made({ type: 'number' }, options)

/** ISO 8601 date-time, as a `Date`; a date alone is midnight UTC. */
export const Timestamp = <const O extends ParamOptions<Date>>(options?: O): Defaulted<TUnsafe<Date>, O> =>
  made({ type: 'string', format: 'date-time' }, options)

/** `YYYY-MM-DD`, as text. Also accepts a date-time, which many clients send, and keeps its day. */
export const DateOnly = <const O extends ParamOptions<string>>(options?: O): Defaulted<TUnsafe<string>, O> =>
  made({ type: 'string', format: 'date' }, options)

/** One of the given words or numbers. */
export const OneOf = <const V extends readonly (string | number)[], const O extends ParamOptions<V[number]>>(
  values: V,
  options?: O,
): Defaulted<TUnsafe<V[number]>, O> =>
  made(
    { ...(values.every((value) => typeof value === 'number') ? { type: 'integer' } : {}), enum: [...values] },
    options,
  )

/** A whole number or one of the given words, case-insensitive: `assignee_id should be an integer, 'None' or 'Any'`. */
export const WholeOr = <const V extends readonly string[], const O extends ParamOptions<number | V[number]>>(
  words: V,
  options?: O,
): Defaulted<TUnsafe<number | V[number]>, O> =>
  made(
    {
      anyOf: [{ type: 'integer' }, { enum: [...words], ignoreCase: true }],
      violation: `should be ${choice('an integer', words)}`,
    },
    options,
  )

/** A list or one of the given words: `approver_ids should be an array, 'None' or 'Any'`. */
export const ListOr = <
  S extends TSchema,
  const V extends readonly string[],
  const O extends ParamOptions<Static<S>[] | V[number]>,
>(
  items: S,
  words: V,
  options?: O,
): Defaulted<TUnsafe<Static<S>[] | V[number]>, O> =>
  made(
    {
      anyOf: [
        { type: 'array', items },
        { enum: [...words], ignoreCase: true },
      ],
      violation: `should be ${choice('an array', words)}`,
    },
    options,
  )

const choice = (kind: string, words: readonly string[]): string => {
  const choices = [kind, ...words.map((word) => `'${word}'`)]
  return `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`
}

/** A number if it parses as one, otherwise text: a user or project by id or by name. */
export const IdOrName = <const O extends ParamOptions<number | string>>(
  options?: O,
): Defaulted<TUnsafe<number | string>, O> => made({ anyOf: [{ type: 'integer' }, { type: 'string' }] }, options)

export type ListOptions<T> = ParamOptions<T[]> & {
  /** `false` rejects an empty list. */
  blank?: false
  /** `true`: a single value becomes a list of one. */
  single?: boolean
  /** `true`: `assignee_username allows one value, but found 2: a, b`. */
  atMostOne?: boolean
  maxItems?: number
}

/** `name[]=a&name[]=b` or a JSON array. Does not split text at commas. */
export const List = <S extends TSchema, const O extends ListOptions<Static<S>>>(
  items: S,
  options?: O,
): Defaulted<TArray<S>, O> => made({ type: 'array', items }, options)

/** A list that may also be text with commas, or have such text as elements: `labels`. */
export const CommaList = <S extends TSchema, const O extends ListOptions<Static<S>>>(
  items: S,
  options?: O,
): Defaulted<TArray<S>, O> => made({ type: 'array', items, split: 'comma' }, options)

/** A hash with arbitrary keys, `custom_attributes[key]=v`; without `values`, any JSON values. */
export const Hash = <
  S extends TSchema = TUnsafe<unknown>,
  const O extends ParamOptions<Record<string, Static<S>>> & { maxProperties?: number } = {},
>(
  values?: S,
  options?: O,
): Defaulted<TUnsafe<Record<string, Static<S>>>, O> =>
  made({ type: 'object', additionalProperties: values ?? {} }, options)

/** A file of a multipart form. */
export const File = <const O extends Omit<ParamOptions<never>, 'default'>>(options?: O): TUnsafe<UploadedFile> =>
  made({ type: 'string', format: 'binary' }, options)

/**
 * Null on PUT and PATCH (or an empty value, unless it is text) clears the value; otherwise null counts as absent. Keeps the
 * options of the inner type.
 */
export const Nullable = <S extends TSchema, const O extends ParamOptions<Static<S> | null>>(
  schema: S,
  options?: O,
): Defaulted<TUnsafe<Static<S> | null>, O> => {
  const { tier, description } = schema as ParamOptions<unknown>
  return made(
    {
      anyOf: [schema, { type: 'null' }],
      ...(tier === undefined ? {} : { tier }),
      ...(description === undefined ? {} : { description }),
    },
    options,
  )
}

/** May be absent; then missing in the result, or its default. */
export const Optional = <S extends TSchema>(schema: S): TOptional<S> => Type.Optional(schema) as unknown as TOptional<S>

/** Declares parameters: a `Type.Object` whose rules may only name its own parameters. */
export function Params<P extends TProperties>(
  properties: P,
  options: ParamRules<Extract<keyof P, string>> & { description?: string } = {},
): TObject<P> {
  const schema = Type.Object(properties, options)
  const required = Object.keys(properties).filter((name) => {
    const property: { default?: unknown; '~optional'?: boolean } = properties[name] as object
    return property['~optional'] !== true && property.default === undefined
  })
  // For the OpenAPI document: a parameter with a default is not required.
  const { required: _, ...rest } = schema as TObject<P> & { required?: unknown }
  return Object.defineProperties(
    required.length > 0 ? { ...rest, required } : rest,
    kindOf(schema),
  ) as unknown as TObject<P>
}

/** TypeBox stores its own symbols as non-enumerable properties. */
const kindOf = (schema: object): PropertyDescriptorMap =>
  Object.fromEntries(
    Object.entries(Object.getOwnPropertyDescriptors(schema)).filter(
      ([, descriptor]) => descriptor.enumerable === false,
    ),
  )

function made<T>(schema: object, options: object | undefined): T {
  // The type exists only in TypeScript; at run time the value is a JSON schema.
  return Type.Unsafe({ ...schema, ...options }) as T
}
