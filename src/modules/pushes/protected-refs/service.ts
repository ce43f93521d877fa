import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { parseRefName } from '../../../git/format/ref-name.ts'
import { conflict, Failure, forbidden, invalidFields, notFound } from '../../../kernel/failure.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import { isGranted } from './protections.ts'
import {
  deleteGrants,
  deleteProtectedRef,
  findProtectedRef,
  type Grant,
  holdersAround,
  insertGrants,
  insertProtectedRef,
  type NewProtectedRef,
  type ProtectedRefRow,
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
  const found = name.includes('\0') ? undefined : await findProtectedRef(ctx.db, project.id, kind, name, ctx.actor)
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
  await requireHolders(
    ctx,
    project,
    each(grants).flatMap(([, given]) => given),
  )
  await ctx.transaction(async (tx) => {
    const id = await insertProtectedRef(tx, { ...rule, projectId: project.id })
    if (id === undefined) throw conflict(`${nouns[rule.kind]} '${rule.name}' already exists`)
    for (const [action, given] of each(grants)) await insertGrants(tx, id, action, given)
    await record(tx, ctx, project.id, 'ref_protected', rule)
  })
  return getProtectedRef(ctx, project, rule.kind, rule.name)
}

export type GrantChanges = {
  readonly add: readonly Grant[]
  /** Ids of grants; `all` removes every grant. */
  readonly remove: readonly number[] | 'all'
}

/** If a rule lists who may unprotect it, only those may change it; otherwise others could make it ineffective. */
function requireUnprotecting(ctx: Ctx, project: ProjectSubject, rule: ProtectedRefRow): void {
  const isNamed = rule.access.some(({ action }) => action === 'unprotect')
  if (isNamed && !isGranted(rule, 'unprotect', ctx.actor, project.facts.level)) throw forbidden()
}

/** Updates the given flags and grants; removals come before additions. Needs the right to unprotect. */
export async function changeProtectedRef(
  ctx: Ctx,
  project: ProjectSubject,
  rule: ProtectedRefRow,
  flags: RefFlags,
  changes: Partial<Record<RefAction, GrantChanges>>,
): Promise<ProtectedRefRow> {
  requireUnprotecting(ctx, project, rule)
  const actions = Object.entries(changes) as [RefAction, GrantChanges][]
  await requireHolders(
    ctx,
    project,
    actions.flatMap(([, { add }]) => add),
  )
  await ctx.transaction(async (tx) => {
    if (!(await updateProtectedRef(tx, rule.id, flags))) throw notFound(nouns[rule.kind])
    for (const [action, { add, remove }] of actions) {
      await deleteGrants(tx, rule.id, action, remove === 'all' ? undefined : remove)
      await insertGrants(tx, rule.id, action, add)
    }
    await record(tx, ctx, project.id, 'ref_protection_changed', rule)
  })
  return getProtectedRef(ctx, project, rule.kind, rule.name)
}

/** Removes a rule. Needs the right to unprotect. False if a concurrent request removed it. */
export async function unprotectRef(ctx: Ctx, project: ProjectSubject, rule: ProtectedRefRow): Promise<boolean> {
  requireUnprotecting(ctx, project, rule)
  return ctx.transaction(async (tx) => {
    const removed = await deleteProtectedRef(tx, rule.id)
    if (removed) await record(tx, ctx, project.id, 'ref_unprotected', rule)
    return removed
  })
}
