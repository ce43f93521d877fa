import { Type } from 'typebox'
import type { Tier } from '../kernel/plan.ts'

/** What a setting says of itself besides its type, default and effect (`description`). */
export type About = {
  /** The smallest plan that offers it; below it, it is neither shown nor changed. */
  readonly tier?: Tier
}

/** On or off. */
export const flag = (value: boolean, description: string, about: About = {}) =>
  Type.Boolean({ default: value, description, ...about })

/** A whole number, never negative. */
export const count = (value: number, description: string, about: About = {}) =>
  Type.Integer({ minimum: 0, default: value, description, ...about })

/** One of some words or numbers; null stands among them where there may be none. */
export const choice = <const V extends readonly (string | number | null)[]>(
  values: V,
  value: V[number],
  description: string,
  about: About = {},
) => Type.Unsafe<V[number]>({ enum: [...values], default: value, description, ...about })

/** Words, in the order they were given. */
export const words = (description: string, value: readonly string[] = [], about: About = {}) =>
  Type.Array(Type.String(), { default: [...value], description, ...about })
