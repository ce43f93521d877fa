import { Type } from 'typebox'
import { Hash, Optional } from '../../../api/params/types.ts'
import { nullable } from '../../../api/schema.ts'
import { compileExpression } from '../../../kernel/expression.ts'

const cadences = ['1d', '7d', '14d', '1month', '3month'] as const
const keeps = [1, 5, 10, 25, 50, 100] as const
const ages = ['7d', '14d', '30d', '90d'] as const

/** Which tags of container images a job deletes regularly. */
export type CleanupPolicy = {
  enabled: boolean
  cadence: (typeof cadences)[number]
  keep_n: number | null
  older_than: string | null
  /** For whole names of tags. Without it nothing is deleted. */
  name_regex: string | null
  name_regex_keep: string | null
}

/** Source: supplement to the API documents, "Project create". */
export const cleanupDefaults: CleanupPolicy = {
  enabled: true,
  cadence: '7d',
  keep_n: 10,
  older_than: '90d',
  name_regex: null,
  name_regex_keep: null,
}

const nullableText = (description: string) => nullable(Type.String(), { description })

export const cleanupPolicySchema = Type.Object(
  {
    enabled: Type.Boolean({ description: 'False: no tags are deleted' }),
    cadence: Type.String({ enum: [...cadences], description: 'Time between two cleanups' }),
    keep_n: nullable(Type.Integer(), { description: 'Number of newest matching tags that stay; null for none' }),
    older_than: nullableText('Tags of images built later than this long ago stay; null for no limit'),
    name_regex: nullableText('Regular expression for tags to delete; null: no tags are deleted'),
    name_regex_delete: nullableText('Newer name of `name_regex`'),
    name_regex_keep: nullableText('Regular expression for tags that stay'),
  },
  { title: 'ContainerExpirationPolicy' },
)

export const cleanupPolicyParams = {
  container_expiration_policy_attributes: Optional(
    Hash(undefined, {
      maxProperties: 20,
      description:
        'Cleanup of container images: `enabled`, `cadence` (1d, 7d, 14d, 1month, 3month), `keep_n` (1, 5, 10, 25, 50, 100), `older_than` (7d, 14d, 30d, 90d), `name_regex` or `name_regex_delete`, and `name_regex_keep`. Absent ones stay',
    }),
  ),
}

/** As records show it: what was not chosen has its default. */
export function cleanupPolicyOf(changed: Partial<CleanupPolicy> | undefined) {
  const policy = { ...cleanupDefaults, ...changed }
  return { ...policy, name_regex_delete: policy.name_regex }
}

const field = 'container_expiration_policy'
const maxPatternLength = 255
const notIncluded = 'is not included in the list'

const given = (params: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined =>
  params['container_expiration_policy_attributes'] as Readonly<Record<string, unknown>> | undefined

const isBlank = (value: unknown): boolean => value === null || value === ''

/** The text of a value, which in JSON may be anything. */
const textOf = (value: unknown): string | undefined => (typeof value === 'object' ? undefined : String(value))

const flags = new Map<string | undefined, boolean>([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

/** The attributes of the policy among the parameters of a project, and their errors. Form bodies have texts only. */
function parse(params: Readonly<Record<string, unknown>>): { policy: Partial<CleanupPolicy>; violations: string[] } {
  const asked = given(params) ?? {}
  const policy: Record<string, unknown> = {}
  const violations: string[] = []
  const refuse = (name: string, why: string) => void violations.push(`${name} ${why}`)
  const choose = (name: string, values: readonly (string | number)[], mayBeNull: boolean) => {
    const value = asked[name]
    if (value === undefined) return
    const known = values.find((each) => String(each) === textOf(value))
    if (known === undefined && !(mayBeNull && isBlank(value))) refuse(name, notIncluded)
    else policy[name] = known ?? null
  }
  if (asked['enabled'] !== undefined) {
    const enabled = flags.get(textOf(asked['enabled']))
    if (enabled === undefined) refuse('enabled', notIncluded)
    else policy['enabled'] = enabled
  }
  choose('cadence', cadences, false)
  choose('keep_n', keeps, true)
  choose('older_than', ages, true)
  for (const [name, column] of [
    ['name_regex', 'name_regex'],
    ['name_regex_delete', 'name_regex'],
    ['name_regex_keep', 'name_regex_keep'],
  ] as const) {
    const value = asked[name]
    if (value === undefined) continue
    if (isBlank(value)) policy[column] = null
    else if (typeof value === 'string' && isPattern(value)) policy[column] = value
    else refuse(name, 'not valid RE2 syntax')
  }
  return { policy, violations }
}

function isPattern(value: string): boolean {
  if (value.length > maxPatternLength || value.includes('\0')) return false
  try {
    compileExpression(value, { whole: true })
    return true
  } catch {
    return false
  }
}

export function cleanupPolicyViolations(params: Readonly<Record<string, unknown>>): Record<string, string[]> {
  const { violations } = parse(params)
  return violations.length > 0 ? { [field]: violations } : {}
}

/** The given attributes, as part of the settings of a project. */
export const cleanupPolicyAmong = (
  params: Readonly<Record<string, unknown>>,
): { container_expiration_policy?: Partial<CleanupPolicy> } =>
  given(params) === undefined ? {} : { container_expiration_policy: parse(params).policy }
