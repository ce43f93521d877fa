import { levels } from '../../../access/levels.ts'
import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import { allows, type Facts } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { violatedUnique } from '../../../db/violations.ts'
import { emit } from '../../../events/log.ts'
import { changedNames } from '../../../kernel/changed-names.ts'
import { forbidden, invalidFields, rowNotFound } from '../../../kernel/failure.ts'
import { taken, tooLong } from '../../../kernel/violations.ts'
import { readersAmong } from '../../discussion/index.ts'
import { type GroupSubject, lockGroup } from '../../groups/index.ts'
import { loadProject, lockProject, type ProjectSubject } from '../../projects/index.ts'
import { findProtectedRefs } from '../../pushes/index.ts'
import { lockMergeRequest } from '../merge-requests/queries.ts'
import type { MergeRequestSubject } from '../merge-requests/subject.ts'
import {
  countRules,
  deleteRule,
  findNamed,
  findRule,
  findSource,
  insertRule,
  lockRule,
  maxRules,
  type RuleHolder,
  type RuleRow,
  type RuleType,
  replacePart,
  updateRule,
  usersAmong,
} from './queries.ts'
import { findApprovalSettings } from './settings-queries.ts'

/** Absent fields keep what the rule has, or what the replaced rule of the project has. */
export type RuleInput = {
  readonly name?: string
  readonly approvals_required?: number
  readonly user_ids?: readonly number[]
  readonly usernames?: readonly string[]
  readonly group_ids?: readonly number[]
  readonly protected_branch_ids?: readonly number[]
  readonly applies_to_all_protected_branches?: boolean
}
export type NewRuleInput = RuleInput & {
  readonly name: string
  readonly approvals_required: number
  readonly rule_type?: RuleType
  /** For a merge request: the rule of the project that it replaces. */
  readonly approval_project_rule_id?: number
}

/** Where a rule is created or changed. */
type Place = {
  readonly holder: RuleHolder
  /** Absent for rules of a group. */
  readonly project?: ProjectSubject
  /** The caller may decide who approves the merge request: replace rules of the project, and name others than developers. */
  readonly mayDecide?: boolean
}

export const ofGroup = ({ id }: GroupSubject): Place => ({ holder: { of: 'group', id } })

export const ofProject = (project: ProjectSubject): Place => ({ holder: { of: 'project', id: project.id }, project })

/** The place of rules of a merge request. Throws `forbidden` if the settings of the project allow none. */
export async function ofMergeRequest(ctx: Ctx, { id, project, facts }: MergeRequestSubject): Promise<Place> {
  await requireOverriding(ctx, project.id)
  return { holder: { of: 'merge_request', id }, project, mayDecide: mayDecide(ctx, facts) }
}

/** Authors from outside may demand more approvals, but not change who gives those of the project. */
const mayDecide = (ctx: Ctx, facts: Facts): boolean => allows(mergeRequestPolicy.admin_merge_request, ctx.actor, facts)

/** Whom a user may name. Those who are named may approve, so those who may not decide that name only developers, who may anyway. */
const nameableBy = (decides: boolean): { readonly from?: number } => (decides ? {} : { from: levels.developer })

/** Whom the caller may name as approvers of a merge request. */
export const nameable = (ctx: Ctx, { facts }: MergeRequestSubject) => nameableBy(mayDecide(ctx, facts))

/** Throws `forbidden` unless merge requests of the project may have rules and required numbers of their own. */
export async function requireOverriding(ctx: Ctx, projectId: number): Promise<void> {
  const settings = await findApprovalSettings(ctx.db, projectId)
  if (settings?.disable_overriding_approvers_per_merge_request)
    throw forbidden('Approval rules cannot be changed for single merge requests of this project')
}

export async function getRule(ctx: Ctx, holder: RuleHolder, id: number): Promise<RuleRow> {
  const rule = await findRule(ctx.db, holder, ctx.actor, id)
  if (!rule) throw rowNotFound()
  return rule
}

/** What a rule names, as far as the input says it. */
type Named = { readonly users?: number[]; readonly groups?: number[]; readonly branches?: number[] }

const maxNameLength = 255

/**
 * The users and groups that the rule may name: users who may read merge requests of the project (for a group: all users), and groups
 * that the caller can see; of authors from outside only developers, and no groups. Others are left out. Throws `invalid` for protected
 * branches of other projects. Within the transaction: one that runs again, because something was deleted meanwhile, leaves it out.
 */
async function namedIn(tx: Tx, ctx: Ctx, place: Place, input: RuleInput): Promise<Named> {
  const { project } = place
  if (input.name !== undefined && [...input.name].length > maxNameLength)
    throw invalidFields({ name: [tooLong(maxNameLength)] })
  const { user_ids, usernames, group_ids, protected_branch_ids } = input
  const decides = place.mayDecide ?? true
  const groupIds = decides ? (group_ids ?? []) : []
  const found = await findNamed(tx, ctx.actor, { usernames: usernames ?? [], groupIds })
  const ids = [...(user_ids ?? []), ...found.userIds]
  const named = () =>
    project ? readersAmong(tx, 'MergeRequest', project.id, ids, nameableBy(decides)) : usersAmong(tx, ids)
  const users = user_ids || usernames ? await named() : undefined
  if (project && protected_branch_ids?.length) {
    const known = await findProtectedRefs(tx, project.id, ctx.actor)
    const isKnown = (id: number) => known.some((ref) => ref.kind === 'branch' && ref.id === id)
    if (!protected_branch_ids.every(isKnown))
      throw invalidFields({ protected_branch_ids: ['must be protected branches of the project'] })
  }
  return {
    ...(users && { users }),
    ...(group_ids && { groups: found.groupIds }),
    ...(protected_branch_ids && { branches: [...protected_branch_ids] }),
  }
}

/** A rule for any approver names no one. */
function requireType(type: RuleType, { users = [], groups = [] }: Named): void {
  if (type === 'any_approver' && users.length + groups.length > 0)
    throw invalidFields({ rule_type: ['any_approver cannot name users or groups'] })
}

/** Locks what holds the rules, so that their number can be limited. Throws if the caller has lost the permission meanwhile. */
export async function lockHolder(tx: Tx, { of, id }: RuleHolder): Promise<void> {
  const lock = { group: lockGroup, project: lockProject, merge_request: lockMergeRequest }[of]
  if (!(await lock(tx, id))) throw rowNotFound()
  await tx.requirePermission?.()
}

/** Locks what holds the rules; resolves with what the caller may decide after the wait. */
async function lockPlace(tx: Tx, ctx: Ctx, place: Place): Promise<Place> {
  await lockHolder(tx, place.holder)
  if (place.holder.of === 'merge_request') await requireOverriding({ ...ctx, db: tx }, place.project!.id)
  if (!place.mayDecide) return place
  const now = await loadProject(String(place.project!.id), { ...ctx, db: tx })
  return { ...place, mayDecide: now !== undefined && mayDecide(ctx, now.facts) }
}

/** Locks the rule and what holds it. Throws `forbidden` if the rule replaces another and the caller may not decide that. */
async function lockRuleIn(tx: Tx, ctx: Ctx, given: Place, id: number) {
  const place = await lockPlace(tx, ctx, given)
  const rule = await lockRule(tx, place.holder, id)
  if (!rule) throw rowNotFound()
  if (rule.source_rule_id !== null && !place.mayDecide) throw forbidden()
  return { place, rule }
}

/** Emits an event about a rule, in the log of its project or group. */
const record = (
  tx: Tx,
  ctx: Ctx,
  { holder, project }: Place,
  kind: 'approval_rule_created' | 'approval_rule_updated' | 'approval_rule_deleted',
  { id, name }: { readonly id: number; readonly name: string },
) =>
  emit(tx, {
    kind,
    ...(project ? { projectId: project.id } : { groupId: holder.id }),
    actorId: ctx.actor!.id,
    payload: { approval_rule_id: id, ...(holder.of === 'merge_request' && { merge_request_id: holder.id }) },
    facts: { name },
  })

/** Violations by the name of the unique index. */
const duplicates: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  approval_rules_project: { name: [taken] },
  approval_rules_merge_request: { name: [taken] },
  approval_rules_group: { name: [taken] },
  approval_rules_any_of_group: { rule_type: ['any-approver for the group already exists'] },
  approval_rules_any_of_project: { rule_type: ['any-approver for the project already exists'] },
  approval_rules_any_of_merge_request: { rule_type: ['any-approver for the merge request already exists'] },
  approval_rules_replaced: { approval_project_rule_id: [taken] },
}

async function withoutDuplicates<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const fields = duplicates[violatedUnique(error) ?? '']
    throw fields ? invalidFields(fields) : error
  }
}

const atLeast = (required: number) =>
  invalidFields({ approvals_required: [`must be at least that of the rule of the project (${required})`] })

/** False if they are as they were. */
async function saveNamed(tx: Tx, id: number, named: Named): Promise<boolean> {
  let isChanged = false
  for (const part of ['users', 'groups', 'branches'] as const) {
    const ids = named[part]
    if (ids && (await replacePart(tx, part, id, ids))) isChanged = true
  }
  return isChanged
}

/**
 * Creates a rule. One that replaces a rule of the project takes over the users and groups that the input does not give. Throws
 * `forbidden` if the caller may not replace rules, `invalid` if the name is taken, if it would require less than the rule that it replaces, or if there are too many.
 */
export async function createRule(ctx: Ctx, place: Place, input: NewRuleInput): Promise<RuleRow> {
  const id = await withoutDuplicates(ctx.transaction((tx) => createRuleIn(tx, ctx, place, input)))
  return getRule(ctx, place.holder, id)
}

/** The same in a transaction; resolves to the id. */
export async function createRuleIn(tx: Tx, ctx: Ctx, given: Place, input: NewRuleInput): Promise<number> {
  const place = await lockPlace(tx, ctx, given)
  const { holder, project } = place
  const isOfGroup = holder.of === 'group'
  const named = await namedIn(tx, ctx, place, input)
  if ((await countRules(tx, holder)) >= maxRules) throw invalidFields({ base: [`at most ${maxRules} rules`] })
  const sourceId = holder.of === 'merge_request' ? input.approval_project_rule_id : undefined
  const source = sourceId === undefined ? undefined : await findSource(tx, project!.id, sourceId)
  if (sourceId !== undefined && !source) throw rowNotFound()
  if (source && !place.mayDecide) throw forbidden()
  if (source && input.approvals_required < source.approvals_required) throw atLeast(source.approvals_required)
  const type = source?.rule_type ?? input.rule_type ?? 'regular'
  const all = source ? { users: source.user_ids, groups: source.group_ids, ...named } : named
  requireType(type, all)
  const ruleId = await insertRule(tx, holder, {
    type,
    sourceRuleId: sourceId ?? null,
    name: input.name,
    approvalsRequired: input.approvals_required,
    appliesToAllProtectedBranches: input.applies_to_all_protected_branches ?? isOfGroup,
  })
  await saveNamed(tx, ruleId, all)
  await record(tx, ctx, place, 'approval_rule_created', { id: ruleId, name: input.name })
  return ruleId
}

/** Changes the given fields of a rule. Values as they are leave no trace. Fails as `createRule` does. */
export async function editRule(ctx: Ctx, place: Place, id: number, input: RuleInput): Promise<RuleRow> {
  await withoutDuplicates(ctx.transaction((tx) => editRuleIn(tx, ctx, place, id, input)))
  return getRule(ctx, place.holder, id)
}

/** The same in a transaction. */
export async function editRuleIn(tx: Tx, ctx: Ctx, given: Place, id: number, input: RuleInput): Promise<void> {
  const { place, rule } = await lockRuleIn(tx, ctx, given, id)
  const named = await namedIn(tx, ctx, place, input)
  requireType(rule.rule_type, named)
  const approvalsRequired = input.approvals_required ?? rule.approvals_required
  if (rule.source_required !== null && approvalsRequired < rule.source_required) throw atLeast(rule.source_required)
  const name = input.name ?? rule.name
  const all = input.applies_to_all_protected_branches ?? rule.applies_to_all_protected_branches
  const values = { name, approvals_required: approvalsRequired, applies_to_all_protected_branches: all }
  const isChanged = changedNames(rule, values).length > 0
  if (isChanged) await updateRule(tx, id, { name, approvalsRequired, appliesToAllProtectedBranches: all })
  const names = await saveNamed(tx, id, named)
  if (isChanged || names) await record(tx, ctx, place, 'approval_rule_updated', { id, name })
}

export const removeRule = (ctx: Ctx, place: Place, id: number): Promise<void> =>
  ctx.transaction((tx) => removeRuleIn(tx, ctx, place, id))

/** The same in a transaction. */
export async function removeRuleIn(tx: Tx, ctx: Ctx, place: Place, id: number): Promise<void> {
  const { rule } = await lockRuleIn(tx, ctx, place, id)
  await deleteRule(tx, id)
  await record(tx, ctx, place, 'approval_rule_deleted', { id, name: rule.name })
}
