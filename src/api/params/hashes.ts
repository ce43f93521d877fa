import { isRawHash, type RawParams } from './raw.ts'
import { addViolation, isFull, type Reader, type Reading } from './reader.ts'
import { ruleChecks } from './rules.ts'
import type { ParamRules } from './schema.ts'
import { isEmpty, isInvalid, isMissing, isRefusedInPart, isUnknown, Violation } from './violation.ts'

/** Parameters of every request, which no endpoint declares. */
const ofRequests = ['private_token', 'access_token', 'sudo'] as const

const maxShownName = 100

/** How one declared parameter handles raw values. */
export type Field = {
  readonly name: string
  readonly read: Reader
  readonly required: boolean
  readonly nullable: boolean
  /** Whether the empty string is a value; otherwise it counts as absent. */
  readonly takesEmptyText: boolean
  /** Whether an empty value counts as absent in requests that read. */
  readonly isFilter: boolean
  readonly isList: boolean
  readonly refusesBlank: boolean
  /** A parameter that counts as this one if this one is absent. */
  readonly newerName: string | undefined
  /** Returns a new copy of the default; undefined if there is none. */
  readonly makeDefault: (() => unknown) | undefined
}

/** Reads a hash of declared names; drops others, or refuses them if `noOthers`. */
export function hashReader(fields: readonly Field[], rules: ParamRules): Reader {
  const checks = ruleChecks(rules, (name) => fields.some((field) => field.name === name))
  const known = rules.noOthers && new Set([...ofRequests, ...fields.map(({ name }) => name)])
  return (raw, reading, path) => {
    if (!isRawHash(raw)) return isInvalid
    const values: Record<string, unknown> = {}
    const given = checks.length > 0 ? new Set<string>() : undefined
    const violationsBefore = reading.violations.length
    for (let index = 0; index < fields.length; index++) {
      const field = fields[index]!
      const value = readField(field, raw, reading, path)
      if (value === undefined) {
        if (field.makeDefault !== undefined) values[field.name] = field.makeDefault()
        continue
      }
      if (value instanceof Violation) {
        addViolation(reading, nameWithin(path, field.name), value)
        if (value === isMissing) continue
      } else values[field.name] = value
      given?.add(field.name)
    }
    if (known !== undefined)
      for (const name of Object.keys(raw)) {
        if (isFull(reading)) break
        if (!known.has(name)) addViolation(reading, nameWithin(path, name.slice(0, maxShownName)), isUnknown)
      }
    if (given !== undefined) {
      for (const check of checks) {
        const sentence = check(
          (name) => given.has(name),
          (name) => nameWithin(path, name),
          (name) => values[name],
          (name) => reading.clears && raw[name] === null,
        )
        if (sentence !== undefined) reading.violations.push(sentence)
      }
    }
    return reading.violations.length > violationsBefore ? isRefusedInPart : values
  }
}

const nameWithin = (path: string, name: string): string => (path === '' ? name : `${path}[${name}]`)

/** The typed value, a violation, or undefined for an absent parameter. */
function readField(field: Field, raw: RawParams, reading: Reading, path: string): unknown {
  const own = raw[field.name]
  const given = own === undefined && field.newerName !== undefined ? raw[field.newerName] : own
  if (given === undefined) return field.required ? isMissing : undefined
  const filters = field.isFilter && reading.reads
  if (given === null || (given === '' && (filters || !field.takesEmptyText))) {
    if (reading.clears && field.nullable) return null
    if (field.isList && (given === null ? reading.clears : reading.writes)) return field.refusesBlank ? isEmpty : []
    if (!field.required) return undefined
    return given === null && !reading.clears ? isMissing : isEmpty
  }
  const value = field.read(given, reading, nameWithin(path, field.name))
  return filters && Array.isArray(value) && value.length === 0 ? undefined : value
}
