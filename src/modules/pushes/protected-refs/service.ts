import { isDeepStrictEqual } from 'node:util'
import type { Ctx } from '../../../api/ctx.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { parseRefName } from '../../../git/format/ref-name.ts'
import { conflict, Failure, forbidden, invalidFields, notFound } from '../../../kernel/failure.ts'
import { loadProject, type ProjectSubject } from '../../projects/index.ts'
import { isGranted } from './protections.ts'
import {
  deleteGrants,
  deleteProtectedRef,
  findProtectedRef,
  type Grant,
  holdersAround,
  insertGrants,
  insertProtectedRef,
  lockProtectedRef,
  type NewProtectedRef,
  type ProtectedRefRow,
  protectionIn,
  type RefAction,
  type RefFlags,
  type RefKind,
  updateProtectedRef,
} from './queries.ts'

const nouns: Record<RefKind, string> = { branch: 'Protected branch', tag: 'Protected tag' }
const folders: Record<RefKind, string> = { branch: 'refs/heads/', tag: 'refs/tags/' }

export const noRule = (): Failure => new Failure('not_found', 'Not found')

/** The rule of exactly this name; throws `not_found` if there is none. */
export async function getProtectedRef(
  ctx: Ctx,
  project: ProjectSubject,
  kind: RefKind,
  name: string,
): Promise<ProtectedRefRow> {
  // PostgreSQL rejects NUL, and refs have none.
  return ruleIn(ctx.db, ctx, name.includes('\0') ? undefined : { kind, name, projectId: project.id })
}

type RuleName = Pick<NewProtectedRef, 'projectId' | 'kind' | 'name'>

async function ruleIn(db: Db, { actor }: Ctx, rule: RuleName | undefined): Promise<ProtectedRefRow> {
  const found = rule && (await findProtectedRef(db, rule.projectId, rule.kind, rule.name, actor))
  if (!found) throw noRule()
  return found
}

/** Throws `invalid` if no possible ref name matches: such a rule would protect nothing. */
function requireName(kind: RefKind, name: string): void {
  if (!parseRefName(folders[kind] + name.replaceAll('*', 'x'))) throw invalidFields({ name: ['is invalid'] })
}

type Grants = Partial<Record<RefAction, readonly Grant[]>>

const each = (grants: Grants) => Object.entries(grants) as [RefAction, readonly Grant[]][]

/** Throws unless all grantees belong to the project: a grant to another user would have no effect. */
async function requireHolders(ctx: Ctx, project: ProjectSubject, grants: readonly Grant[]): Promise<void> {
  const users = grants.flatMap(({ user_id }) => user_id ?? [])
  const groups = grants.flatMap(({ group_id }) => group_id ?? [])
  if (users.length + groups.length === 0) return
  const known = await holdersAround(ctx.db, project, users, groups)
  if (users.some((id) => !known.users.has(id)))
    throw new Failure('unprocessable', 'User is not a member of the project')
  if (groups.some((id) => !known.groups.has(id)))
    throw new Failure('unprocessable', 'Group does not have access to the project')
}

const record = (
  tx: Tx,
  ctx: Ctx,
  projectId: number,
  kind: 'ref_protected' | 'ref_protection_changed' | 'ref_unprotected',
  rule: Pick<ProtectedRefRow, 'kind' | 'name'>,
) => emit(tx, { kind, projectId, actorId: ctx.actor?.id ?? null, payload: { ref_kind: rule.kind, name: rule.name } })

/** Adds a rule. Throws `conflict` if a rule of this name exists. */
export async function protectRef(
  ctx: Ctx,
  project: ProjectSubject,
  rule: Omit<NewProtectedRef, 'projectId'>,
  grants: Grants,
): Promise<ProtectedRefRow> {
  requireName(rule.kind, rule.name)
  const granted = each(grants).flatMap(([, given]) => given)
  await requireHolders(ctx, project, granted)
  const made = { ...rule, projectId: project.id }
  return ctx.transaction(async (tx) => {
    const id = await insertProtectedRef(tx, made)
    if (id === undefined) throw conflict(`${nouns[rule.kind]} '${rule.name}' already exists`)
    // The insert waits for changes of the project.
    await tx.requirePermission?.()
    await requireHolders({ ...ctx, db: tx }, project, granted)
    for (const [action, given] of each(grants)) await insertGrants(tx, id, action, given)
    await record(tx, ctx, project.id, 'ref_protected', rule)
    // Within the transaction: afterwards another request may have removed it.
    return ruleIn(tx, ctx, made)
  })
}

export type GrantChanges = {
  readonly add: readonly Grant[]
  /** Ids of grants; `all` removes every grant. */
  readonly remove: readonly number[] | 'all'
}

/**
 * Locks a rule for a change. If it lists who may unprotect it, only those may change it; otherwise others could make it ineffective.
 * Rights and rule are read after the wait for the lock. False if the rule is gone.
 */
async function lockToChange(ctx: Ctx, tx: Tx, project: ProjectSubject, rule: ProtectedRefRow): Promise<boolean> {
  if (!(await lockProtectedRef(tx, rule.id))) return false
  await tx.requirePermission?.()
  const { access } = await ruleIn(tx, ctx, { kind: rule.kind, name: rule.name, projectId: project.id })
  if (!access.some(({ action }) => action === 'unprotect')) return true
  const now = await loadProject(String(project.id), { ...ctx, db: tx })
  if (!now || !isGranted({ access }, 'unprotect', ctx.actor, now.facts.level)) throw forbidden()
  return true
}

/** Updates the given flags and grants; removals come before additions. Needs the right to unprotect. An event says so if the protection differs. */
export async function changeProtectedRef(
  ctx: Ctx,
  project: ProjectSubject,
  rule: ProtectedRefRow,
  flags: RefFlags,
  changes: Partial<Record<RefAction, GrantChanges>>,
): Promise<ProtectedRefRow> {
  const actions = Object.entries(changes) as [RefAction, GrantChanges][]
  const added = actions.flatMap(([, { add }]) => add)
  await requireHolders(ctx, project, added)
  return ctx.transaction(async (tx) => {
    if (!(await lockToChange(ctx, tx, project, rule))) throw notFound(nouns[rule.kind])
    await requireHolders({ ...ctx, db: tx }, project, added)
    const before = await protectionIn(tx, rule.id)
    await updateProtectedRef(tx, rule.id, flags)
    for (const [action, { add, remove }] of actions) {
      await deleteGrants(tx, rule.id, action, remove === 'all' ? undefined : remove)
      await insertGrants(tx, rule.id, action, add)
    }
    const isChanged = !isDeepStrictEqual(await protectionIn(tx, rule.id), before)
    if (isChanged) await record(tx, ctx, project.id, 'ref_protection_changed', rule)
    return ruleIn(tx, ctx, { kind: rule.kind, name: rule.name, projectId: project.id })
  })
}

/** Removes a rule. Needs the right to unprotect. False if a concurrent request removed it. */
export async function unprotectRef(ctx: Ctx, project: ProjectSubject, rule: ProtectedRefRow): Promise<boolean> {
  return ctx.transaction(async (tx) => {
    if (!(await lockToChange(ctx, tx, project, rule))) return false
    await deleteProtectedRef(tx, rule.id)
    await record(tx, ctx, project.id, 'ref_unprotected', rule)
    return true
  })
}
