import { levelNames, levels } from '../../../access/levels.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Db, Tx } from '../../../db/db.ts'
import type { DateOnly } from '../../../db/types.ts'
import type { EventPlace } from '../../../events/catalogue.ts'
import { emit } from '../../../events/log.ts'
import { conflict, Failure, forbidden, invalidFields, notFound, rowNotFound } from '../../../kernel/failure.ts'
import { findUser, isLeaving } from '../../accounts/index.ts'
import { groupMemberChanged, lockAccess, projectMemberChanged } from '../../namespaces/index.ts'
import { tellMember } from './mails.ts'
import {
  deleteMember,
  deleteMembershipsBelow,
  findMember,
  hasOtherOwner,
  inheritedLevel,
  insertMember,
  type MemberRow,
  type MemberSource,
  placeOfProject,
  updateMember,
} from './queries.ts'

/** A group or project whose members change, with what the rules need. */
export type Membership = MemberSource & {
  /** The owner of the personal namespace that the project lies in: his membership is fixed. */
  readonly fixedUserId: number | null
  /** Nobody is added while the group says so. */
  readonly locked: boolean
}

export const groupMembership = (group: { id: number; traversal_ids: readonly number[] }): Membership => ({
  of: 'group',
  groupId: group.id,
  ancestorIds: group.traversal_ids,
  fixedUserId: null,
  locked: false,
})

export async function projectMembership(db: Db, project: { id: number; namespace_id: number }): Promise<Membership> {
  const place = await placeOfProject(db, project.namespace_id)
  return {
    of: 'project',
    projectId: project.id,
    ancestorIds: place.kind === 'group' ? place.traversal_ids : [],
    fixedUserId: place.owner_id,
    locked: place.membership_lock,
  }
}

/** Whether the level exists here: projects have no owners. */
export const isStorable = (membership: Membership, level: number): boolean =>
  [levels.guest, levels.reporter, levels.developer, levels.maintainer].includes(level as 10) ||
  (level === levels.owner && membership.of === 'group')

/** Groups above what the membership is about: there a higher level may be inherited from. */
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
    : projectMemberChanged(tx, membership.projectId, userId)

const sourceOf = (membership: MemberSource): EventPlace =>
  membership.of === 'group' ? { groupId: membership.groupId } : { projectId: membership.projectId }

export async function addMember(
  ctx: Ctx,
  membership: Membership,
  member: { userId: number; level: number; expiresAt: DateOnly | null },
): Promise<MemberRow> {
  await ctx.transaction(async (tx) => {
    await lockAccess(tx)
    await admitMember(tx, membership, { ...member, actorId: ctx.actor!.id })
    await tellMember(tx, ctx, membership, 'added', member)
  })
  return (await findMember(ctx.db, membership, member.userId)) ?? reload(ctx, member)
}

/**
 * Makes somebody a member, in the name of `actorId` (null: of nobody who is still there). A bot is one of its own project or
 * group alone, from its beginning. The access lock is held.
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
  // Whoever is being removed is blocked.
  if (user.state === 'blocked' && (await isLeaving(tx, userId))) throw notFound('User')
  if (membership.locked) throw new Failure('wrong_state', 'Members of the group are locked')
  await requireLevel(tx, membership, userId, level)
  const added = await insertMember(tx, membership, { userId, level, expiresAt, createdBy: actorId })
  if (!added) throw conflict('Member already exists')
  await changed(tx, membership, userId)
  await emit(tx, {
    kind: 'member_added',
    ...sourceOf(membership),
    actorId,
    payload: { user_id: userId, access_level: level, expires_at: expiresAt, ...(member.bot && { bot: true }) },
  })
}

/** A membership that is over on the day it begins is still answered. */
async function reload(
  ctx: Ctx,
  member: { userId: number; level: number; expiresAt: DateOnly | null },
): Promise<MemberRow> {
  const user = await findUser(ctx.db, member.userId)
  if (!user) throw rowNotFound()
  return { ...user, access_level: member.level, expires_at: member.expiresAt }
}

/** `expiresAt`: `undefined` keeps what is set, null lets it last. */
export async function editMember(
  ctx: Ctx,
  membership: Membership,
  member: { userId: number; level: number; expiresAt: DateOnly | null | undefined },
): Promise<MemberRow> {
  return ctx.transaction(async (tx) => {
    await lockAccess(tx)
    const held = await findMember(tx, membership, member.userId)
    if (!held) throw rowNotFound()
    if (membership.fixedUserId === member.userId) throw forbidden()
    await keepAnOwner(tx, membership, held)
    await requireLevel(tx, membership, member.userId, member.level)
    await updateMember(tx, membership, member.userId, member.level, member.expiresAt)
    await changed(tx, membership, member.userId)
    await emit(tx, {
      kind: 'member_updated',
      ...sourceOf(membership),
      actorId: ctx.actor?.id ?? null,
      payload: {
        user_id: member.userId,
        access_level: member.level,
        ...(member.expiresAt !== undefined && { expires_at: member.expiresAt }),
      },
    })
    return {
      ...held,
      access_level: member.level,
      expires_at: member.expiresAt === undefined ? held.expires_at : member.expiresAt,
    }
  })
}

/** Every group keeps somebody who owns it himself: the membership of the last one is fixed. */
async function keepAnOwner(tx: Tx, membership: Membership, held: MemberRow): Promise<void> {
  if (
    membership.of === 'group' &&
    held.access_level === levels.owner &&
    !(await hasOtherOwner(tx, membership.groupId, held.id))
  )
    throw forbidden()
}

/** Ends a membership, with those below a group. Whoever may not manage members may still leave. */
export async function removeMember(
  ctx: Ctx,
  membership: Membership,
  userId: number,
  mayManage: boolean,
): Promise<void> {
  await ctx.transaction(async (tx) => {
    await lockAccess(tx)
    const held = await findMember(tx, membership, userId)
    if (!held) throw rowNotFound()
    if (!mayManage && ctx.actor?.id !== userId) throw forbidden()
    if (membership.fixedUserId === userId) throw forbidden()
    await keepAnOwner(tx, membership, held)
    for (const ended of await endMembership(tx, membership, userId))
      await emit(tx, {
        kind: 'member_removed',
        ...sourceOf(ended),
        actorId: ctx.actor?.id ?? null,
        payload: { user_id: userId },
      })
  })
}

/** Deletes the rows and brings the index of access up to date. Returns all that ended. The access lock is held. */
async function endMembership(tx: Tx, membership: Membership, userId: number): Promise<MemberSource[]> {
  await deleteMember(tx, membership, userId)
  if (membership.of === 'project') {
    await projectMemberChanged(tx, membership.projectId, userId)
    return [membership]
  }
  const { groupIds, projectIds } = await deleteMembershipsBelow(tx, membership, userId)
  await groupMemberChanged(tx, membership.groupId, userId)
  for (const projectId of projectIds) await projectMemberChanged(tx, projectId, userId)
  return [
    membership,
    ...groupIds.map((groupId) => ({ of: 'group', groupId, ancestorIds: [] }) as const),
    ...projectIds.map((projectId) => ({ of: 'project', projectId, ancestorIds: [] }) as const),
  ]
}
