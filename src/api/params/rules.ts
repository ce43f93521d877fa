import type { ParamRules } from './schema.ts'

/** Checks the set of given names; returns a message or undefined. `label` converts a name to its path. */
type RuleCheck = (
  isGiven: (name: string) => boolean,
  label: (name: string) => string,
  read: (name: string) => unknown,
  /** The parameter is given as null, on PUT or PATCH. */
  isNull: (name: string) => boolean,
) => string | undefined

/** Ignores names that the plan does not offer; a rule over none of them always holds. */
export function ruleChecks(rules: ParamRules, isOffered: (name: string) => boolean): RuleCheck[] {
  const checks: RuleCheck[] = []
  const add = (names: readonly string[] | undefined, check: (names: readonly string[]) => RuleCheck): void => {
    const offered = names?.filter(isOffered) ?? []
    if (offered.length > 0) checks.push(check(offered))
  }
  add(rules.atLeastOneOf, atLeastOneOf)
  add(rules.atLeastOneValueOf, atLeastOneValueOf)
  add(rules.exactlyOneOf, exactlyOneOf)
  for (const names of rules.mutuallyExclusive ?? []) add(names, mutuallyExclusive)
  add(rules.allOrNone, allOrNone)
  for (const { name, is, needs } of rules.needed ?? []) add([name, needs], neededWhen(is))
  for (const { name, given } of rules.requiredUnless ?? []) add([name, ...given], requiredUnless)
  return checks
}

const requiredUnless =
  (names: readonly string[]): RuleCheck =>
  (isGiven, label) =>
    names.some(isGiven) ? undefined : `${label(names[0]!)} is missing`

const neededWhen =
  (is: string | boolean) =>
  ([name, needs]: readonly string[]): RuleCheck =>
  (isGiven, label, read) =>
    needs !== undefined && read(name!) === is && !isGiven(needs) ? `${label(needs)} is missing` : undefined

const atLeastOneOf = (names: readonly string[]): RuleCheck => {
  const check = atLeastOneValueOf(names)
  return (isGiven, label, read, isNull) => (names.some(isNull) ? undefined : check(isGiven, label, read, isNull))
}

const atLeastOneValueOf =
  (names: readonly string[]): RuleCheck =>
  (isGiven, label) =>
    names.some(isGiven)
      ? undefined
      : `${names.map(label).join(', ')} are missing, at least one parameter must be provided`

const mutuallyExclusive =
  (names: readonly string[]): RuleCheck =>
  (isGiven, label) => {
    const given = names.filter(isGiven)
    return given.length > 1 ? `${given.map(label).join(', ')} are mutually exclusive` : undefined
  }

const exactlyOneOf = (names: readonly string[]): RuleCheck => {
  const exclusive = mutuallyExclusive(names)
  return (isGiven, label, ...more) =>
    names.some(isGiven)
      ? exclusive(isGiven, label, ...more)
      : `${names.map(label).join(', ')} are missing, exactly one parameter must be provided`
}

const allOrNone =
  (names: readonly string[]): RuleCheck =>
  (isGiven, label) => {
    const given = names.filter(isGiven).length
    return given === 0 || given === names.length
      ? undefined
      : `${names.map(label).join(', ')} provide all or none of parameters`
  }
