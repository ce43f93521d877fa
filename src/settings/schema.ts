import { type TSchema, Type } from 'typebox'
import type { Brand } from '../kernel/brand.ts'
import type { Tier } from '../kernel/plan.ts'

/** What was chosen, by name. */
export type Chosen = Readonly<Record<string, unknown>>

/** Complaints about a value, each a sentence without its subject; asked only about values that are there. */
export type Rule<T = any> = (value: T, all: Chosen) => readonly string[]

/** What a setting says of itself besides its type, default and effect (`description`). */
export type About = {
  /** The smallest plan that offers it; below it, it is neither shown nor changed. */
  readonly tier?: Tier
  /** The name that clients know, where ours is neutral: taken and shown, too. */
  readonly alias?: string
  /** What the product does not have, and this would configure: it is kept and told, and does nothing. */
  readonly without?: string
  /**
   * What a setting without effect restricts. What is `missing` as well needs no restriction. What is `there` would go on without the
   * restriction that the setting promises, so only the default value is accepted.
   */
  readonly guards?: 'missing' | 'there'
  /** Must be in the same request when it is switched on. */
  readonly sentWith?: readonly string[]
  /** Must have a value while it has one (or is on). */
  readonly needs?: readonly string[]
  readonly rules?: readonly Rule[]
}

/** Of numbers. `above` is the number that is too small by itself. */
type Bounds = { readonly minimum?: number; readonly exclusiveMinimum?: number; readonly maximum?: number }

/** A text that is in the database only as `Secrets` seals it. `modules/administration/application-settings` opens it. */
export type Sealed = Brand<string, 'sealed setting'>

/** A declared setting: a schema of its values that says the rest, too. */
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
    /** `shown` to administrators, or to nobody, once it is set. */
    readonly secret?: 'shown' | 'hidden'
  }

/** On or off. */
export const flag = (value: boolean, description: string, about: About = {}) =>
  Type.Boolean({ default: value, description, ...about })

/** A whole number, not negative unless its bounds say so. */
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

/** A number that need not be whole. */
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

/** A text that must not be found by those who have the database. */
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

/** One of some words or numbers; null stands among them where there may be none. */
export const choice = <const V extends readonly (string | number | null)[]>(
  values: V,
  value: V[number],
  description: string,
  about: About = {},
) => Type.Unsafe<V[number]>({ enum: [...values], default: value, description, ...about })

/** Some of these words. */
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

/** Words of any kind: names of hosts, paths. They may be sent as one text, with commas, semicolons or blanks between. */
export const words = (
  description: string,
  { value = [], ...about }: About & { readonly value?: readonly string[] } = {},
) => Type.Array(Type.String(), { default: [...value], description, ...about })

/** Numbers of rows. */
export const ids = (description: string, about: About = {}) =>
  Type.Array(Type.Integer(), { default: [] as number[], description, ...about })
