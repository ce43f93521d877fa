import type { TObject } from 'typebox'
import { type Plan, planOffers } from '../../kernel/plan.ts'
import { readDate, readTimestamp } from './dates.ts'
import { enumReader } from './enums.ts'
import { freeHashReader, readAnything } from './free-hash.ts'
import { type Field, hashReader } from './hashes.ts'
import { listReader } from './lists.ts'
import { ParameterError } from './parameter-error.ts'
import type { ParamsOf } from './params-of.ts'
import type { RawParams } from './raw.ts'
import type { Reader } from './reader.ts'
import { booleanReader, integerReader, numberReader, textReader } from './scalars.ts'
import { alternatives, isNullable, isNullSchema, isOptional, literals, type ParamSchema } from './schema.ts'
import { UploadedFile } from './uploaded-file.ts'
import { hasNoValidValue, isInvalid, Violation } from './violation.ts'

/** Converts the raw parameters of one request to typed ones. Throws a `ParameterError` that names every invalid parameter. */
export type ParamsReader<S extends TObject> = (raw: RawParams, method?: string) => ParamsOf<S>

export type CompileOptions = {
  /** Parameters above this plan count as unknown. */
  plan?: Plan
}

/**
 * Compiles a declaration into closures, which takes microseconds per parameter: compile on first use and cache the result.
 * `method` determines the meaning of null: PUT and PATCH clear the value, others ignore it. Throws here, not at the first
 * request, if a schema cannot be parsed from the wire, which is a bug.
 */
export function compileParams<S extends TObject>(
  schema: S,
  { plan = 'ultimate' }: CompileOptions = {},
): ParamsReader<S> {
  const read = objectReader(schema as ParamSchema, plan)
  return (raw, method = 'GET') => {
    const clears = method === 'PUT' || method === 'PATCH'
    const violations: string[] = []
    const values = read(raw, { violations, clears, writes: clears || method === 'POST', reads: method === 'GET' }, '')
    if (violations.length > 0) throw new ParameterError(violations.join(', '))
    // Only reached if the tree is not a hash, which no transport passes.
    if (values instanceof Violation) throw new ParameterError('parameters are invalid')
    return values as ParamsOf<S>
  }
}

function objectReader(schema: ParamSchema, plan: Plan): Reader {
  const fields: Field[] = []
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    // An absent parameter would otherwise be found on the prototype of a JSON object.
    if (name in Object.prototype) throw new TypeError(`${name} cannot be the name of a parameter`)
    if (property.tier === undefined || planOffers(plan, property.tier)) fields.push(fieldOf(name, property, plan))
  }
  return hashReader(fields, schema)
}

function fieldOf(name: string, schema: ParamSchema, plan: Plan): Field {
  const core = alternatives(schema).filter((each) => !isNullSchema(each))
  return {
    name,
    read: readerOf(schema, plan),
    required: !isOptional(schema) && schema.default === undefined,
    nullable: isNullable(schema),
    // Compat: python-gitlab sends `avatar=` to remove an avatar.
    takesEmptyText: core.some(takesEmptyText) && !(isNullable(schema) && core.every(isFile)),
    isFilter: isOptional(schema) && core.every(mayFilter),
    isList: core.some((each) => each.type === 'array'),
    refusesBlank: core.some((each) => each.blank === false),
    newerName: schema.newerName,
    makeDefault: defaultOf(schema),
  }
}

function defaultOf(schema: ParamSchema): (() => unknown) | undefined {
  const value = schema.default
  if (value === undefined) return undefined
  return typeof value === 'object' && value !== null ? () => structuredClone(value) : () => value
}

const isFile = (schema: ParamSchema): boolean => schema.type === 'string' && schema.format === 'binary'

const isDated = (schema: ParamSchema): boolean => schema.format === 'date-time' || schema.format === 'date'

/** Whether an empty value of a parameter that reads may leave out counts as absent: a text or list that accepts one. */
const mayFilter = (schema: ParamSchema): boolean =>
  (schema.type === 'array' || (schema.type === 'string' && literals([schema]) === undefined)) &&
  schema.blank !== false &&
  schema.emptyMatches !== true

/**
 * Whether the empty string is treated as a value, even if only to be rejected. A list of words is text unless it contains
 * numbers.
 */
function takesEmptyText(schema: ParamSchema): boolean {
  const words = literals([schema])
  if (words !== undefined) return words.some((word) => typeof word === 'string') && schema.ignoreCase !== true
  return schema.type === undefined || (schema.type === 'string' && !isDated(schema))
}

function readerOf(schema: ParamSchema, plan: Plan): Reader {
  const choices = alternatives(schema).filter((each) => !isNullSchema(each))
  // `blank` and similar keywords may be on the union of a nullable parameter.
  if (choices.length === 1)
    return singleReader(schema.anyOf === undefined ? choices[0]! : { ...schema, ...choices[0]! }, plan)
  const values = literals(choices)
  if (values !== undefined) return enumReader(values, schema.ignoreCase)
  return unionReader(schema, choices, plan)
}

/** The first alternative that accepts the value wins, in the order of the declaration. */
function unionReader(schema: ParamSchema, choices: readonly ParamSchema[], plan: Plan): Reader {
  const readers = choices.map((choice) => singleReader(choice, plan))
  const violation = schema.violation === undefined ? undefined : new Violation(schema.violation)
  return (raw, reading, path) => {
    let refusal = isInvalid
    for (const read of readers) {
      // Violations in an alternative that does not match are discarded.
      const value = read(raw, { ...reading, violations: [] }, path)
      if (!(value instanceof Violation)) return value
      if (value === hasNoValidValue) refusal = value
    }
    return violation ?? refusal
  }
}

function singleReader(schema: ParamSchema, plan: Plan): Reader {
  const values = literals([schema])
  if (values !== undefined) return enumReader(values, schema.ignoreCase)
  switch (schema.type) {
    case 'boolean':
      return booleanReader(schema)
    case 'integer':
      return integerReader(schema)
    case 'number':
      return numberReader(schema)
    case 'string':
      return textualReader(schema)
    case 'array':
      return listOf(schema, plan)
    case 'object':
      if (schema.properties !== undefined) return objectReader(schema, plan)
      return freeHashOf(schema, plan)
    case undefined:
      return readAnything
    default:
      throw new TypeError(`a parameter cannot be of type ${schema.type}`)
  }
}

function freeHashOf({ additionalProperties, patternProperties, maxProperties }: ParamSchema, plan: Plan): Reader {
  // TypeBox writes a record's values as `patternProperties`, hand-written schemas use `additionalProperties`.
  const values = additionalProperties ?? Object.values(patternProperties ?? {})[0] ?? {}
  return freeHashReader(isAnything(values) ? undefined : readerOf(values, plan), maxProperties)
}

const isAnything = (schema: ParamSchema): boolean =>
  schema.type === undefined && schema.anyOf === undefined && literals([schema]) === undefined

function textualReader(schema: ParamSchema): Reader {
  if (schema.format === 'date-time') return readTimestamp
  if (schema.format === 'date') return readDate
  if (isFile(schema)) return (raw) => (raw instanceof UploadedFile ? raw : isInvalid)
  return textReader(schema)
}

function listOf(schema: ParamSchema, plan: Plan): Reader {
  const items = schema.items ?? {}
  const emptyMeansNothing = !alternatives(items).some(takesEmptyText)
  return listReader(schema, readerOf(items, plan), emptyMeansNothing)
}
