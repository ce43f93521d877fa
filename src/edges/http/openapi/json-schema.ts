import { accessLevelName } from '../../../access/levels.ts'
import type { ParamSchema } from '../../../api/params/schema.ts'
import { isOffered, type Plan } from '../../../kernel/plan.ts'

export type JsonSchema = { [keyword: string]: unknown }

/** A reference to a record that has a name (`title`), or undefined for other schemas. */
export type Refer = (schema: object) => JsonSchema | undefined

/** Custom keywords about parsing and errors, which JSON Schema does not know. */
const ours: ReadonlySet<string> = new Set([
  'tier',
  'blank',
  'split',
  'single',
  'atMostOne',
  'emptyMatches',
  'filePath',
  'violation',
  'ignoreCase',
  'atLeastOneOf',
  'atLeastOneValueOf',
  'noOthers',
  'exactlyOneOf',
  'mutuallyExclusive',
  'allOrNone',
  'needed',
  'requiredUnless',
  'newerName',
  'onlyFalse',
  'known',
  'levels',
  'title',
])

/** Keywords whose values are schemas by name, or lists of schemas. */
const named: ReadonlySet<string> = new Set(['properties', 'patternProperties'])
const listed: ReadonlySet<string> = new Set(['anyOf', 'allOf', 'oneOf'])

/**
 * A declaration as plain JSON Schema 2020-12, without what `plan` does not offer. `closed` sets `additionalProperties:
 * false` on every object: right for records, which tests validate, and wrong for parameters, where others are ignored.
 * Records within the record become references if `refer` knows them.
 */
export function jsonSchema(schema: object, plan: Plan, closed: boolean, refer: Refer = () => undefined): JsonSchema {
  const inside = (inner: object): JsonSchema => refer(inner) ?? jsonSchema(inner, plan, closed, refer)
  const of = (inner: unknown): unknown => (typeof inner === 'object' && inner !== null ? inside(inner) : inner)
  const made: JsonSchema = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (ours.has(keyword)) continue
    if (named.has(keyword)) made[keyword] = offered(value as Record<string, ParamSchema>, plan, inside)
    else if (listed.has(keyword)) made[keyword] = (value as unknown[]).map(of)
    else if (keyword === 'items' || keyword === 'additionalProperties') made[keyword] = of(value)
    else if (keyword === 'pattern') made[keyword] = value instanceof RegExp ? value.source : value
    else if (value instanceof Date) made[keyword] = value.toISOString()
    else made[keyword] = value
  }
  const { tier, known, levels } = schema as ParamSchema
  if (known !== undefined) made['enum'] = known
  if (levels) nameLevels(made)
  if (tier !== undefined) made['x-tier'] = tier
  if (made['properties'] !== undefined) {
    keepRequired(made)
    if (closed) made['additionalProperties'] ??= false
  }
  return simpler(made)
}

/** Adds the names of access levels for people, and for generators of clients. */
function nameLevels(made: JsonSchema): void {
  const values = made['enum'] as readonly number[]
  made['description'] =
    `${made['description']}: ${values.map((value) => `${value} ${accessLevelName(value)}`).join(', ')}`
  made['x-enum-varnames'] = values.map((value) => accessLevelName(value).toUpperCase().replace(' ', '_'))
}

/** Properties that the plan offers. */
const offered = (
  properties: Record<string, ParamSchema>,
  plan: Plan,
  inside: (property: object) => JsonSchema,
): Record<string, JsonSchema> =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([, { tier }]) => isOffered(tier, plan))
      .map(([name, property]) => [name, inside(property)]),
  )

/** Removes properties from `required` that the plan does not offer. */
function keepRequired(made: JsonSchema): void {
  const properties = made['properties'] as Record<string, unknown>
  const required = ((made['required'] ?? []) as string[]).filter((name) => name in properties)
  if (required.length > 0) made['required'] = required
  else delete made['required']
}

/** A shorter equivalent: a type or null as two types, literals as an enumeration, enumerations with a type. */
function simpler(made: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = made as { anyOf?: JsonSchema[] } & JsonSchema
  if (anyOf === undefined) return made['enum'] === undefined ? made : withType(made)
  const isNull = (one: JsonSchema) => one['type'] === 'null'
  const others = anyOf.filter((one) => !isNull(one))
  if (others.length > 0 && others.every((one) => 'const' in one)) {
    const values = [...others.map((one) => one['const']), ...(others.length < anyOf.length ? [null] : [])]
    return withType({ ...rest, enum: values })
  }
  const [only] = others
  if (others.length === 1 && others.length < anyOf.length && typeof only!['type'] === 'string') {
    const { 'x-enum-varnames': _, ...one } = only!
    const words = one['enum'] as unknown[] | undefined
    return { ...one, ...rest, type: [one['type'], 'null'], ...(words && { enum: [...words, null] }) }
  }
  return made
}

function withType(made: JsonSchema): JsonSchema {
  if (made['type'] !== undefined) return made
  const types = [...new Set((made['enum'] as unknown[]).map((value) => (value === null ? 'null' : typeof value)))]
  return { type: types.length === 1 ? types[0] : types, ...made }
}
