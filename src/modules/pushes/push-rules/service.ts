import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import type { Reaction } from '../../../events/reaction.ts'
import { expressionViolation } from '../../../kernel/expression.ts'
import { Failure, forbidden, invalidFields, notFound } from '../../../kernel/failure.ts'
import { planOffers } from '../../../kernel/plan.ts'
import { tooLong, violationsOf } from '../../../kernel/violations.ts'
import { type Holder, placeOf } from '../../groups/index.ts'
import {
  copyRuleFromAbove,
  deletePushRule,
  findPushRule,
  insertPushRule,
  lockPushRule,
  type PushRuleRow,
  type PushRuleValues,
  updatePushRule,
} from './queries.ts'

/** Values that a request sets; absent ones stay. */
export type PushRuleChanges = { readonly [K in keyof PushRuleValues]?: PushRuleValues[K] | undefined }

/** Maximum characters of each expression. */
const maxLengths = {
  commit_message_regex: 511,
  commit_message_negative_regex: 2047,
  branch_name_regex: 511,
  author_email_regex: 511,
  file_name_regex: 511,
} as const

const none: PushRuleValues = {
  deny_delete_tag: false,
  member_check: false,
  prevent_secrets: false,
  commit_message_regex: null,
  commit_message_negative_regex: null,
  branch_name_regex: null,
  author_email_regex: null,
  file_name_regex: null,
  max_file_size: 0,
  commit_committer_check: null,
  reject_unsigned_commits: null,
}

const missing = () => notFound('Push Rule')

/** Throws `not_found` if the holder has no rule of its own. */
export async function getPushRule(ctx: Ctx, holder: Holder): Promise<PushRuleRow> {
  const rule = await findPushRule(ctx.db, holder)
  if (!rule) throw missing()
  return rule
}

export async function createPushRule(ctx: Ctx, holder: Holder, changes: PushRuleChanges): Promise<PushRuleRow> {
  requireValid(ctx, changes)
  return ctx.transaction(async (tx) => {
    const rule = await insertPushRule(tx, holder, merged(none, changes))
    if (!rule) throw new Failure('unprocessable', `${nameOf(holder)} push rule exists`)
    // The insert waits for changes of the holder.
    await tx.requirePermission?.()
    await record(ctx, tx, holder, { kind: 'push_rule_created', payload: { push_rule_id: rule.id } })
    return rule
  })
}

export async function changePushRule(ctx: Ctx, holder: Holder, changes: PushRuleChanges): Promise<PushRuleRow> {
  requireValid(ctx, changes)
  return ctx.transaction(async (tx) => {
    const before = await lockPushRule(tx, holder)
    if (!before) throw missing()
    await tx.requirePermission?.()
    const values = merged(before, changes)
    const changed = names.filter((name) => values[name] !== before[name])
    if (changed.length === 0) return before
    const rule = await updatePushRule(tx, before.id, values)
    await record(ctx, tx, holder, { kind: 'push_rule_updated', payload: { push_rule_id: rule.id, changed } })
    return rule
  })
}

export const removePushRule = (ctx: Ctx, holder: Holder): Promise<void> =>
  ctx.transaction(async (tx) => {
    const id = await deletePushRule(tx, holder)
    await tx.requirePermission?.()
    if (id === undefined) throw missing()
    await record(ctx, tx, holder, { kind: 'push_rule_deleted', payload: { push_rule_id: id } })
  })

/** Reaction to a new project, forks and imports included. */
export const copyPushRule: Reaction<'project_created'> = (tx, { projectId }) => copyRuleFromAbove(tx, projectId)

const names = Object.keys(none) as (keyof PushRuleValues)[]

const merged = (before: PushRuleValues, changes: PushRuleChanges): PushRuleValues =>
  Object.fromEntries(
    names.map((name) => [name, changes[name] === undefined ? before[name] : changes[name]]),
  ) as PushRuleValues

const nameOf = ({ of }: Holder): string => (of === 'project' ? 'Project' : of === 'group' ? 'Group' : 'Instance')

function requireValid(ctx: Ctx, changes: PushRuleChanges): void {
  if ((changes.commit_committer_check || changes.reject_unsigned_commits) && !planOffers(ctx.plan, 'premium'))
    throw forbidden()
  const violations = violationsOf(
    Object.fromEntries(
      Object.entries(maxLengths).map(([name, maximum]) => [
        name,
        violationsOfExpression(changes[name as keyof typeof maxLengths] ?? '', maximum),
      ]),
    ),
  )
  if (violations) throw invalidFields(violations)
}

/** The expressions among these values that cannot be checked, or are longer than requests may set, by their names. */
export const unusableExpressions = (values: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(maxLengths).flatMap(([name, maximum]) => {
    const text = values[name]
    return typeof text === 'string' && violationsOfExpression(text, maximum).length > 0 ? name : []
  })

function violationsOfExpression(text: string, maximum: number): string[] {
  if ([...text].length > maximum) return [tooLong(maximum)]
  const violation = expressionViolation(text)
  return violation === undefined ? [] : [violation]
}

type PushRuleEvent =
  | { kind: 'push_rule_created' | 'push_rule_deleted'; payload: { push_rule_id: number } }
  | { kind: 'push_rule_updated'; payload: { push_rule_id: number; changed: readonly string[] } }

const record = (ctx: Ctx, tx: Tx, holder: Holder, event: PushRuleEvent) =>
  emit(tx, { ...event, ...placeOf(holder), actorId: ctx.actor!.id })
