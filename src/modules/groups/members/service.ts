import { levelNames, levels } from '../../../access/levels.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Db, Tx } from '../../../db/db.ts'
import type { DateOnly } from '../../../db/types.ts'
import type { EventPlace } from '../../../events/catalogue.ts'
import { emit, emitAll } from '../../../events/log.ts'
import { conflict, Failure, forbidden, invalidFields, notFound, rowNotFound } from '../../../kernel/failure.ts'
import { type Plan, planOffers } from '../../../kernel/plan.ts'
import { findUser, isLeaving } from '../../accounts/index.ts'
import { groupMemberChanged, lockAccess, projectsMemberChanged } from '../../namespaces/index.ts'
import { mailMember } from './mails.ts'
import {
  deleteEndedMember,
  deleteEndedMembers,
  deleteMember,
  deleteMembershipsBelow,
  type EndedMember,
  findMember,
  findMemberOrEnded,
  groupsAround,
  hasOtherOwner,
  inheritedLevel,
  insertMember,
  type MemberRow,
  type MemberSource,
  placeOfProject,
  updateMember,
} from './queries.ts'

/** A group or project whose members change, with the facts that the rules need. */
export type Membership = MemberSource & {
  /** Owner of the personal namespace of the project, whose membership cannot change. */
  readonly fixedUserId: number | null
  /** The group does not allow new members. */
  readonly locked: boolean
}

export const groupMembership = (group: { id: number; traversal_ids: readonly number[] }): Membership => ({
  of: 'group',
  groupId: group.id,
  ancestorIds: group.traversal_ids,
  fixedUserId: null,
  locked: false,
})

export async function projectMembership(db: Db, plan: Plan, project: { id: number }): Promise<Membership> {
  const place = await placeOfProject(db, project.id)
  if (!place) throw notFound('Project')
  return {
    of: 'project',
    projectId: project.id,
    ancestorIds: place.kind === 'group' ? place.traversal_ids : [],
    fixedUserId: place.owner_id,
    // A lock from an earlier plan, or an archive, could not be removed.
    locked: place.membership_lock && planOffers(plan, 'starter'),
  }
}

/** Locks access. Resolves with the membership after the wait, during which a transfer or a lock of members may have changed its rules. */
export async function lockMembership(tx: Tx, plan: Plan, before: Membership): Promise<Membership> {
  await lockAccess(tx)
  if (before.of === 'project') return projectMembership(tx, plan, { id: before.projectId })
  const around = await groupsAround(tx, before.groupId)
  if (!around) throw notFound('Group')
  return groupMembership({ id: before.groupId, traversal_ids: around })
}

/** Whether the level exists here: projects have no owners. */
export const isStorable = (membership: Membership, level: number): boolean =>
  [levels.guest, levels.reporter, levels.developer, levels.maintainer].includes(level as 10) ||
  (level === levels.owner && membership.of === 'group')

/** Groups above, from which a level may be inherited. */
const above = ({ of, ancestorIds }: Membership): readonly number[] =>
  of === 'group' ? ancestorIds.slice(0, -1) : ancestorIds

async function requireLevel(tx: Tx, membership: Membership, userId: number, level: number): Promise<void> {
  if (!isStorable(membership, level)) throw invalidFields({ access_level: ['is not included in the list'] })
  const inherited = await inheritedLevel(tx, above(membership), userId)
  if (inherited && inherited.access_level > level)
    throw invalidFields({
      access_level: [
        `should be greater than or equal to ${levelNames[inherited.access_level]} inherited membership from group ${inherited.name}`,
      ],
    })
}

const changed = (tx: Tx, membership: Membership, userId: number): Promise<void> =>
  membership.of === 'group'
    ? groupMemberChanged(tx, membership.groupId, userId)
    : projectsMemberChanged(tx, [membership.projectId], userId)

const sourceOf = (membership: MemberSource): EventPlace =>
  membership.of === 'group' ? { groupId: membership.groupId } : { projectId: membership.projectId }

export async function addMember(
  ctx: Ctx,
  source: Membership,
  member: { userId: number; level: number; expiresAt: DateOnly | null },
): Promise<MemberRow> {
  return ctx.transaction(async (tx) => {
    const membership = await lockMembership(tx, ctx.plan, source)
    await admitMember(tx, membership, { ...member, actorId: ctx.actor!.id })
    await mailMember(tx, ctx, membership, 'added', member)
    return (await findMemberOrEnded(tx, membership, member.userId))!
  })
}

/**
 * Adds a member on behalf of `actorId`, null if that account is gone. A bot is added only to its own project or group,
 * when it is created. The access lock is held.
 */
export async function admitMember(
  tx: Tx,
  membership: Membership,
  member: { userId: number; level: number; expiresAt: DateOnly | null; actorId: number | null; bot?: true },
): Promise<void> {
  const { userId, level, expiresAt, actorId } = member
  if (await findMember(tx, membership, userId)) throw conflict('Member already exists')
  const user = await findUser(tx, userId)
  if (user?.kind !== (member.bot ? 'bot' : 'human')) throw notFound('User')
  // Users who are being deleted are blocked.
  if (user.state === 'blocked' && (await isLeaving(tx, userId))) throw notFound('User')
  if (membership.locked) throw new Failure('wrong_state', 'Members of the group are locked')
  await requireLevel(tx, membership, userId, level)
  const insert = () => insertMember(tx, membership, { userId, level, expiresAt, createdBy: actorId })
  if (!(await insert())) {
    // A membership that has expired is in the way until it is deleted.
    const ended = await deleteEndedMember(tx, membership, userId)
    if (ended === undefined || !(await insert())) throw conflict('Member already exists')
    await emitAllRemoved(tx, [endedOf(membership, userId, ended)], { actorId: null, isExpired: true })
  }
  await changed(tx, membership, userId)
  await emit(tx, {
    kind: 'member_added',
    ...sourceOf(membership),
    actorId,
    payload: { user_id: userId, access_level: level, expires_at: expiresAt, ...(member.bot && { bot: true }) },
  })
}

/** `expiresAt`: `undefined` leaves the date unchanged, null removes it. Values as they are leave no trace. */
export async function editMember(
  ctx: Ctx,
  source: Membership,
  member: { userId: number; level: number; expiresAt: DateOnly | null | undefined },
): Promise<MemberRow> {
  return ctx.transaction(async (tx) => {
    const membership = await lockMembership(tx, ctx.plan, source)
    const held = await findMember(tx, membership, member.userId)
    if (!held) throw rowNotFound()
    if (membership.fixedUserId === member.userId) throw forbidden()
    const expiresAt = member.expiresAt === undefined ? held.expires_at : member.expiresAt
    const endsEarlier = expiresAt !== null && expiresAt !== held.expires_at
    if (member.level < levels.owner || endsEarlier) await requireOtherOwner(tx, membership, held)
    await requireLevel(tx, membership, member.userId, member.level)
    if (member.level === held.access_level && expiresAt === held.expires_at) return held
    await updateMember(tx, membership, member.userId, member.level, member.expiresAt)
    await changed(tx, membership, member.userId)
    const now = { access_level: member.level, expires_at: expiresAt }
    await emit(tx, {
      kind: 'member_updated',
      ...sourceOf(membership),
      actorId: ctx.actor?.id ?? null,
      payload: { user_id: member.userId, ...now },
    })
    return { ...held, ...now }
  })
}

/**
 * Throws for the last direct owner of a group, so that every group has one: also for the last without an end date, if others are owners until
 * a date.
 */
async function requireOtherOwner(tx: Tx, membership: Membership, held: MemberRow): Promise<void> {
  if (
    membership.of === 'group' &&
    held.access_level === levels.owner &&
    !(await hasOtherOwner(tx, membership.groupId, held.id, held.expires_at === null))
  )
    throw forbidden()
}

/**
 * Makes the user an owner of a group that has no direct owner without an end date, so that every top-level group has one. The access lock is held.
 */
export async function ensureOwner(
  tx: Tx,
  group: { id: number; traversal_ids: readonly number[] },
  userId: number,
): Promise<void> {
  if (await hasOtherOwner(tx, group.id, 0, true)) return
  const membership = groupMembership(group)
  const owner = { userId, level: levels.owner, expiresAt: null, actorId: userId }
  if (!(await findMember(tx, membership, userId))) return admitMember(tx, membership, owner)
  await updateMember(tx, membership, userId, levels.owner, null)
  await changed(tx, membership, userId)
  await emit(tx, {
    kind: 'member_updated',
    ...sourceOf(membership),
    actorId: userId,
    payload: { user_id: userId, access_level: levels.owner, expires_at: null },
  })
}

/**
 * Ends a membership and, for a group, those below it. Users without the right to manage members may remove themselves.
 */
export async function removeMember(
  ctx: Ctx,
  source: Membership,
  userId: number,
  mayManage: (tx: Tx) => Promise<boolean>,
): Promise<void> {
  await ctx.transaction(async (tx) => {
    const membership = await lockMembership(tx, ctx.plan, source)
    const held = await findMember(tx, membership, userId)
    if (!held) throw rowNotFound()
    if (ctx.actor?.id !== userId && !(await mayManage(tx))) throw forbidden()
    if (membership.fixedUserId === userId) throw forbidden()
    await requireOtherOwner(tx, membership, held)
    await emitAllRemoved(tx, await endMembership(tx, membership, held), { actorId: ctx.actor?.id ?? null })
  })
}

/** Deletes at most `size` expired memberships; resolves with their number. */
export const removeEndedMembers = (ctx: Ctx, size: number): Promise<number> =>
  ctx.transaction(async (tx) => {
    const ended = await deleteEndedMembers(tx, size)
    await emitAllRemoved(tx, ended, { actorId: null, isExpired: true })
    return ended.length
  })

/** How memberships ended: by a user or by expiry, and whether they were those of bots, which end with their tokens. */
type Ending = { readonly actorId: number | null; readonly isExpired?: true; readonly bot?: true }

/** Records that these memberships ended. */
export const emitAllRemoved = (
  tx: Tx,
  ended: readonly EndedMember[],
  { actorId, isExpired, bot }: Ending,
): Promise<void> =>
  emitAll(
    tx,
    ended.map(({ user_id, project_id: projectId, namespace_id: groupId, level, expires_at }) => ({
      kind: 'member_removed',
      ...(projectId === null ? { groupId: groupId! } : { projectId }),
      actorId,
      payload: { user_id, ...(bot && { bot }) },
      facts: { access_level: level, expires_at },
      ...(isExpired && { shown: { action: 'expired' } }),
    })),
  )

const endedOf = (
  source: MemberSource,
  userId: number,
  { level, expires_at }: Pick<EndedMember, 'level' | 'expires_at'>,
): EndedMember => ({
  user_id: userId,
  project_id: source.of === 'project' ? source.projectId : null,
  namespace_id: source.of === 'group' ? source.groupId : null,
  level,
  expires_at,
})

/** Deletes the rows and updates the access index. Returns all memberships that ended. The access lock is held. */
async function endMembership(tx: Tx, membership: Membership, held: MemberRow): Promise<EndedMember[]> {
  const { id: userId, access_level: level, expires_at } = held
  await deleteMember(tx, membership, userId)
  const ended = endedOf(membership, userId, { level, expires_at })
  if (membership.of === 'project') {
    await projectsMemberChanged(tx, [membership.projectId], userId)
    return [ended]
  }
  const below = await deleteMembershipsBelow(tx, membership, userId)
  await groupMemberChanged(tx, membership.groupId, userId)
  const projects = below.flatMap(({ project_id: projectId }) => (projectId === null ? [] : [projectId]))
  await projectsMemberChanged(tx, projects, userId)
  return [ended, ...below]
}
