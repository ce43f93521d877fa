import type { TSchema } from 'typebox'
import type { Tier } from '../../kernel/plan.ts'

/**
 * The JSON-schema keywords that conversion understands, and ours beside them (`blank`, `split`, `single`,
 * `tier`, `complaint`, `rules`). Read from plain TypeBox schemas and from the helpers of `types.ts` alike.
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
  minItems?: number
  maxItems?: number
  /** `false`: a value without content is refused with `is empty`. */
  blank?: boolean
  /** `'comma'`: text is a list, and so is the text of each element. */
  split?: 'comma'
  /** `true`: one value stands for a list of one. */
  single?: boolean
  /** `true`: a list for the sake of its spelling; more than one value is refused. */
  atMostOne?: boolean
  /** `true`: text that must not climb out of a folder. */
  filePath?: boolean
  /** `true`: a date may be given as a date-time, of which the day is kept. */
  dateTime?: boolean
  /** Replaces `is invalid` and `does not have a valid value` of a union. */
  complaint?: string
  /** `true`: words are compared without regard to case. */
  ignoreCase?: boolean
  /** Values that the handler accepts and checks itself: an enumeration in the documentation. */
  known?: readonly unknown[]
  /** `true`: the values are access levels, which the documentation names. */
  levels?: true
  /** The smallest plan that offers the parameter. */
  tier?: Tier
} & ParamRules & { '~optional'?: true }

/** Rules over several parameters of one hash. */
export type ParamRules<Name extends string = string> = {
  atLeastOneOf?: readonly Name[]
  exactlyOneOf?: readonly Name[]
  /** Several sets, each on its own. */
  mutuallyExclusive?: readonly (readonly Name[])[]
  allOrNone?: readonly Name[]
  /** A parameter that is required when another has this value. */
  needed?: readonly { readonly name: Name; readonly is: string | boolean; readonly needs: Name }[]
}

export const isOptional = (schema: ParamSchema): boolean => schema['~optional'] === true

export const isNullSchema = (schema: ParamSchema): boolean => schema.type === 'null'

/** The alternatives of a union, those of unions within it included; a schema that is no union stands alone. */
export const alternatives = (schema: ParamSchema): ParamSchema[] =>
  schema.anyOf === undefined ? [schema] : schema.anyOf.flatMap(alternatives)

export const isNullable = (schema: ParamSchema): boolean => alternatives(schema).some(isNullSchema)

/** The values of an enumeration, or undefined when some alternative is not a single value. */
export function literals(schemas: readonly ParamSchema[]): unknown[] | undefined {
  const values: unknown[] = []
  for (const schema of schemas) {
    if (schema.enum !== undefined) values.push(...schema.enum)
    else if (schema.const !== undefined) values.push(schema.const)
    else return undefined
  }
  return values
}
