import type { TSchema } from 'typebox'
import type { Tier } from '../../kernel/plan.ts'

/**
 * The JSON-schema keywords that conversion understands, and custom ones (`blank`, `split`, `single`, `tier`, `violation`,
 * `rules`), in plain TypeBox schemas and from the helpers of `types.ts`.
 */
export type ParamSchema = TSchema & {
  type?: string
  format?: string
  const?: unknown
  enum?: readonly unknown[]
  anyOf?: readonly ParamSchema[]
  items?: ParamSchema
  properties?: Record<string, ParamSchema>
  patternProperties?: Record<string, ParamSchema>
  additionalProperties?: ParamSchema
  maxProperties?: number
  default?: unknown
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  pattern?: string | RegExp
  maxItems?: number
  /** `false`: an empty value is rejected with `is empty`. */
  blank?: boolean
  /** `true`: an empty text is a value in requests that read, too; otherwise it counts as absent. */
  emptyMatches?: boolean
  /** `'comma'`: splits text, and the text of each element, at commas. */
  split?: 'comma'
  /** `true`: a single value becomes a list of one. */
  single?: boolean
  /** `true`: list syntax is accepted, but more than one value is rejected. */
  atMostOne?: boolean
  /** `true`: text that must not leave its folder with `..`. */
  filePath?: boolean
  /** Replaces `is invalid` and `does not have a valid value` of a union. */
  violation?: string
  /** `true`: compares words case-insensitively. */
  ignoreCase?: boolean
  /** Why true is rejected. */
  onlyFalse?: string
  /** Values that the handler accepts and checks itself: an enumeration in the documentation. */
  known?: readonly unknown[]
  /** `true`: the values are access levels, which the documentation names. */
  levels?: true
  /** Another parameter that newer clients send instead: it counts as this one if this one is absent. */
  newerName?: string
  /** The smallest plan that offers the parameter. */
  tier?: Tier
} & ParamRules & { '~optional'?: true }

/** Rules over several parameters of one hash. */
export type ParamRules<Name extends string = string> = {
  /** On PUT and PATCH null counts, even for a parameter that it does not clear. */
  atLeastOneOf?: readonly Name[]
  /** The same for parameters of which one must have a value: null does not count. */
  atLeastOneValueOf?: readonly Name[]
  exactlyOneOf?: readonly Name[]
  /** Several sets, each on its own. */
  mutuallyExclusive?: readonly (readonly Name[])[]
  allOrNone?: readonly Name[]
  /** Refuses names that are not declared; without it they are ignored. */
  noOthers?: true
  /**
   * Compat: required unless one of the others is given, which newer or older clients send in its place. The document shows it as
   * required.
   */
  requiredUnless?: readonly { readonly name: Name; readonly given: readonly Name[] }[]
  /** A parameter that is required if another one has the given value. */
  needed?: readonly { readonly name: Name; readonly is: string | boolean; readonly needs: Name }[]
}

export const isOptional = (schema: ParamSchema): boolean => schema['~optional'] === true

export const isNullSchema = (schema: ParamSchema): boolean => schema.type === 'null'

/** The alternatives of a union, including nested unions; any other schema is its only alternative. */
export const alternatives = (schema: ParamSchema): ParamSchema[] =>
  schema.anyOf === undefined ? [schema] : schema.anyOf.flatMap(alternatives)

export const isNullable = (schema: ParamSchema): boolean => alternatives(schema).some(isNullSchema)

/** The values of an enumeration; undefined if an alternative is not a single value. */
export function literals(schemas: readonly ParamSchema[]): unknown[] | undefined {
  const values: unknown[] = []
  for (const schema of schemas) {
    if (schema.enum !== undefined) values.push(...schema.enum)
    else if (schema.const !== undefined) values.push(schema.const)
    else return undefined
  }
  return values
}
