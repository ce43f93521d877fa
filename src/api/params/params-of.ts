import type { Static, TArray, TObject, TOptional, TProperties, TSchema } from 'typebox'

/**
 * The type of the parsed parameters: like `Static`, but a parameter with a default is always present. The types see only
 * defaults given to the helpers of `types.ts`.
 */
export type ParamsOf<S> = S extends TObject<infer P> ? Flat<Present<P> & Absentable<P>> : never

type Present<P extends TProperties> = { [K in keyof P as MayBeAbsent<P[K]> extends true ? never : K]: ParamOf<P[K]> }
type Absentable<P extends TProperties> = {
  [K in keyof P as MayBeAbsent<P[K]> extends true ? K : never]?: ParamOf<P[K]>
}

type MayBeAbsent<S> = S extends { default: unknown } ? false : S extends TOptional<TSchema> ? true : false

type ParamOf<S> =
  S extends TObject<TProperties>
    ? ParamsOf<S>
    : S extends TArray<infer Item>
      ? ParamOf<Item>[]
      : S extends TSchema
        ? Static<S>
        : never

type Flat<T> = { [K in keyof T]: T[K] } & {}
