import { type TSchema, Type } from 'typebox'
import type { Brand } from '../../kernel/brand.ts'
import type { Tier } from '../../kernel/plan.ts'

/** Stored values by name. */
export type Chosen = Readonly<Record<string, unknown>>

/** Validates a present value. Returns error messages, each a sentence without its subject. */
export type Rule<T = any> = (value: T, all: Chosen) => readonly string[]

/** Properties of a setting besides its type, default and `description`. */
export type About = {
  /** The lowest plan that offers the setting; below it, the setting is neither returned nor changed. */
  readonly tier?: Tier
  /** The name that clients know, if ours differs: also accepted and returned. */
  readonly alias?: string
  /** The missing feature that the setting configures: the value is stored and returned and has no effect. */
  readonly without?: string
  /**
   * Whether the product has what a setting without effect restricts. If it is `missing`, there is nothing to restrict. If it is
   * `there`, the promised restriction would not be enforced, so only the default value is accepted.
   */
  readonly guards?: 'missing' | 'there'
  /** Settings that the same request must contain to enable this one. */
  readonly sentWith?: readonly string[]
  /** Settings that must have a value while this one has a value or is enabled. */
  readonly needs?: readonly string[]
  readonly rules?: readonly Rule[]
}

/** Bounds of numbers. */
type Bounds = { readonly minimum?: number; readonly exclusiveMinimum?: number; readonly maximum?: number }

/** A text that the database stores encrypted by `Secrets`. `modules/administration/application-settings` decrypts it. */
export type Sealed = Brand<string, 'sealed setting'>

/** A declared setting: the schema of its values, with its further properties. */
export type SettingSchema = TSchema &
  About &
  Bounds & {
    readonly type?: string
    readonly default: unknown
    readonly description: string
    readonly enum?: readonly (string | number | null)[]
    readonly anyOf?: readonly { readonly type?: string }[]
    readonly items?: { readonly type?: string; readonly enum?: readonly string[] }
    readonly maxLength?: number
    /** `shown`: administrators can read it. `hidden`: never returned once it is set. */
    readonly secret?: 'shown' | 'hidden'
  }

/** On or off. */
export const flag = (value: boolean, description: string, about: About = {}) =>
  Type.Boolean({ default: value, description, ...about })

/** A whole number; not negative unless its bounds allow that. */
export const count = (value: number, description: string, about: About & Bounds = {}) =>
  Type.Integer({
    ...(about.exclusiveMinimum === undefined && { minimum: 0 }),
    default: value,
    description,
    ...about,
  })

/** A whole number, not negative, or null. */
export const countOrNone = (description: string, about: About & Bounds = {}) =>
  Type.Unsafe<number | null>({
    anyOf: [Type.Integer(), Type.Null()],
    ...(about.exclusiveMinimum === undefined && { minimum: 0 }),
    default: null,
    description,
    ...about,
  })

/** A number with fractions. */
export const decimal = (value: number, description: string, about: About & Bounds = {}) =>
  Type.Number({ default: value, description, ...about })

/** A text, or null for none. */
export const text = (
  description: string,
  { value = null, longest = 255, ...about }: About & { readonly value?: string | null; readonly longest?: number } = {},
) =>
  Type.Unsafe<string | null>({
    anyOf: [Type.String(), Type.Null()],
    maxLength: longest,
    default: value,
    description,
    ...about,
  })

/** A text that must not be readable from the database alone. */
export const secret = (
  description: string,
  { hidden = false, longest = 65_536, ...about }: About & { readonly hidden?: boolean; readonly longest?: number } = {},
) =>
  Type.Unsafe<Sealed | null>({
    anyOf: [Type.String(), Type.Null()],
    maxLength: longest,
    secret: hidden ? 'hidden' : 'shown',
    default: null,
    description,
    ...about,
  })

/** One of the given words or numbers; null is one of them if the value is optional. */
export const choice = <const V extends readonly (string | number | null)[]>(
  values: V,
  value: V[number],
  description: string,
  about: About = {},
) => Type.Unsafe<V[number]>({ enum: [...values], default: value, description, ...about })

/** A list of the given words. */
export const choices = (
  values: readonly string[],
  description: string,
  value: readonly string[] = [],
  about: About = {},
) =>
  Type.Unsafe<string[]>({
    type: 'array',
    items: { type: 'string', enum: [...values] },
    default: [...value],
    description,
    ...about,
  })

/** A list of free words such as host names or paths. Clients may send one text separated by commas, semicolons or spaces. */
export const words = (
  description: string,
  { value = [], ...about }: About & { readonly value?: readonly string[] } = {},
) => Type.Array(Type.String(), { default: [...value], description, ...about })

/** A list of IDs. */
export const ids = (description: string, about: About = {}) =>
  Type.Array(Type.Integer(), { default: [] as number[], description, ...about })
