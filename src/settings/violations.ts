import { blank, boundViolations, lengthViolations } from '../kernel/violations.ts'
import type { Chosen, SettingSchema } from './declared/schema.ts'
import { declared } from './settings.ts'

const isBlank = (value: unknown): boolean =>
  value === null || value === undefined || (typeof value === 'string' && value.trim() === '')

const isOn = (value: unknown): boolean => value === true || (typeof value === 'string' && !isBlank(value))

/** Whether the value promises a restriction of an existing feature that the product cannot enforce. */
const isEmptyPromise = (value: unknown, schema: SettingSchema): boolean =>
  schema.guards === 'there' && value !== schema.default && !isBlank(value)

const isNullable = ({ anyOf, enum: values }: SettingSchema): boolean =>
  anyOf !== undefined || values?.includes(null) === true

/** Violations by setting name; undefined if there are none. Expects secrets in plain text. */
export function violationsAbout(all: Chosen): Record<string, string[]> | undefined {
  const violations: Record<string, string[]> = {}
  const addViolation = (name: string, texts: readonly string[]) => {
    if (texts.length > 0) violations[name] = [...new Set([...(violations[name] ?? []), ...texts])]
  }
  for (const [name, schema] of declared) {
    const value = all[name]
    if (value === null && !isNullable(schema)) addViolation(name, [blank])
    if (!isBlank(value)) addViolation(name, aboutValue(value, schema, all))
    if (isEmptyPromise(value, schema))
      addViolation(name, [`is not supported: this product does not have ${schema.without}`])
    if (isOn(value))
      for (const other of schema.needs ?? []) if (isBlank(all[other])) addViolation(other, [needed(other)])
  }
  if (keyTypes.every((name) => all[name] === -1)) addViolation('allowed_key_types', [blank])
  return Object.keys(violations).length > 0 ? violations : undefined
}

const keyTypes = ['rsa', 'dsa', 'ecdsa', 'ed25519'].map((type) => `${type}_key_restriction`)

const needed = (name: string): string => (name === 'terms' ? 'You need to set terms to be enforced' : blank)

function aboutValue(value: unknown, schema: SettingSchema, all: Chosen): string[] {
  const { minimum, exclusiveMinimum, maximum, maxLength, rules = [] } = schema
  const texts: string[] = []
  if (typeof value === 'number') {
    if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
      texts.push(`must be greater than ${exclusiveMinimum}`)
    texts.push(...boundViolations(value, { minimum, maximum }))
  }
  if (typeof value === 'string' && maxLength !== undefined) texts.push(...lengthViolations(value, maxLength))
  // Skips further rules if the value is out of bounds.
  return texts.length > 0 ? texts : rules.flatMap((rule) => rule(value, all))
}
