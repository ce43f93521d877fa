import { levelNames, visibilityName } from '../../../access/levels.ts'
import { PayloadProject } from './blocks.ts'
import { findGroupBlock, findUserBlocks } from './queries.ts'
import type { PayloadCtx } from './shown.ts'
import { type Builder, idIn, type RecordedEvent, textIn } from './source.ts'

/* Payloads of system hooks, and of members and subgroups for hooks of groups. */

const timesIn = (facts: RecordedEvent['facts']) => ({
  created_at: textIn(facts, 'created_at'),
  updated_at: textIn(facts, 'updated_at'),
})

/**
 * `2017-09-15T16:50:55Z` for `2017-09-15 16:50:55 UTC`. Compat: Go clients read the times of members and subgroups in hooks of groups in
 * this format only, and those of all other payloads as text.
 */
const isoTime = (time: string | null): string | null =>
  time === null ? null : time.replace(' ', 'T').replace(' UTC', 'Z')

const projectNames: Readonly<Record<string, string>> = {
  project_created: 'project_create',
  project_deleted: 'project_destroy',
  project_renamed: 'project_rename',
  project_transferred: 'project_transfer',
  project_updated: 'project_update',
}

/** From what was recorded, because the project may be gone. */
const projectPayload: Builder = async (_ctx, { event: { kind, project_id, facts } }) => {
  const owner = { name: textIn(facts, 'owner_name'), email: textIn(facts, 'owner_email') }
  const moved = kind === 'project_renamed' || kind === 'project_transferred'
  return {
    event_name: projectNames[kind],
    ...timesIn(facts),
    name: textIn(facts, 'name'),
    path: textIn(facts, 'path'),
    path_with_namespace: textIn(facts, 'path_with_namespace'),
    project_id,
    owner_name: owner.name,
    owner_email: owner.email,
    owners: [owner],
    project_visibility: visibilityName(idIn(facts, 'visibility')),
    ...(moved && { old_path_with_namespace: textIn(facts, 'old_full_path') }),
  }
}

const groupNames: Readonly<Record<string, string>> = {
  group_created: 'group_create',
  group_deleted: 'group_destroy',
  group_updated: 'group_rename',
}

const groupPayload: Builder = async (_ctx, { event: { kind, group_id, facts } }) => {
  const oldFullPath = textIn(facts, 'old_full_path')
  return {
    event_name: groupNames[kind],
    ...timesIn(facts),
    name: textIn(facts, 'name'),
    path: textIn(facts, 'path'),
    full_path: textIn(facts, 'full_path'),
    group_id,
    owner_name: null,
    owner_email: null,
    ...(oldFullPath !== null && {
      old_path: oldFullPath.slice(oldFullPath.lastIndexOf('/') + 1),
      old_full_path: oldFullPath,
    }),
  }
}

/** For hooks of the groups above it. */
export const subgroupPayload: Builder = async (ctx, { event: { kind, group_id, facts } }) => {
  const parentId = idIn(facts, 'parent_id')
  const parent = (await findGroupBlock(ctx.db, parentId)) ?? ctx.shown?.parent
  const { created_at, updated_at } = timesIn(facts)
  return {
    created_at: isoTime(created_at),
    updated_at: isoTime(updated_at),
    event_name: kind === 'group_created' ? 'subgroup_create' : 'subgroup_destroy',
    name: textIn(facts, 'name'),
    path: textIn(facts, 'path'),
    full_path: textIn(facts, 'full_path'),
    group_id,
    parent_group_id: parentId,
    parent_name: parent?.name ?? null,
    parent_path: parent?.path ?? null,
    parent_full_path: parent?.full_path ?? null,
  }
}

const userNames: Readonly<Record<string, string>> = {
  user_created: 'user_create',
  user_deleted: 'user_destroy',
  user_updated: 'user_rename',
  sign_in_failed: 'user_failed_login',
}

const accountPayload: Builder = async (_ctx, { event: { kind, payload, facts } }) => {
  const oldUsername = textIn(facts, 'old_username')
  return {
    event_name: userNames[kind],
    ...timesIn(facts),
    name: textIn(facts, 'name'),
    email: textIn(facts, 'email'),
    user_id: idIn(payload, 'user_id'),
    username: textIn(facts, 'username'),
    ...(kind === 'sign_in_failed' && { state: textIn(facts, 'state') }),
    ...(kind === 'user_updated' && { old_username: oldUsername }),
  }
}

const keyPayload: Builder = async (_ctx, { event: { kind, payload, facts, happened_at } }) => ({
  event_name: kind === 'ssh_key_added' ? 'key_create' : 'key_destroy',
  created_at: happened_at,
  updated_at: happened_at,
  username: textIn(facts, 'username'),
  key: textIn(facts, 'key'),
  id: idIn(payload, 'key_id'),
})

const memberVerbs: Readonly<Record<string, readonly [verb: string, preposition: string]>> = {
  member_added: ['add', 'to'],
  member_updated: ['update', 'for'],
  member_removed: ['remove', 'from'],
}

/** The member as payloads show it: with the e-mail address for administrators, and with the public one for groups. */
async function memberOf(ctx: PayloadCtx, event: RecordedEvent, isPublic: boolean) {
  const userId = idIn(event.payload, 'user_id')
  const user = (await findUserBlocks(ctx.db, [userId]))[0]
  const { facts } = event
  return {
    user_id: userId,
    // The account may have been deleted: then from what was recorded.
    user_name: user?.name ?? textIn(facts, 'name'),
    user_username: user?.username ?? textIn(facts, 'username'),
    user_email:
      (isPublic ? user?.public_email : user?.email) ?? textIn(facts, isPublic ? 'public_email' : 'email') ?? '',
  }
}

const levelOf = ({ payload, facts }: RecordedEvent): string | null =>
  levelNames[idIn(payload, 'access_level') || idIn(facts, 'access_level')] ?? null

/** Members of a project: for system hooks. */
const teamPayload: Builder = async (ctx, { event }) => {
  const project = await PayloadProject.load(ctx, event.project_id)
  if (!project) return undefined
  const [verb, preposition] = memberVerbs[event.kind]!
  const { name, full_path, visibility } = project.row
  return {
    event_name: `user_${verb}_${preposition}_team`,
    created_at: event.happened_at,
    updated_at: event.happened_at,
    project_name: name,
    project_path: full_path.slice(full_path.lastIndexOf('/') + 1),
    project_path_with_namespace: full_path,
    project_id: project.row.id,
    ...(await memberOf(ctx, event, false)),
    access_level: levelOf(event),
    project_visibility: visibilityName(visibility),
  }
}

/** Members of a group. */
const groupMemberPayload =
  (isPublic: boolean): Builder =>
  async (ctx, { event }) => {
    const group = (await findGroupBlock(ctx.db, event.group_id ?? 0)) ?? ctx.shown?.group
    if (!group) return undefined
    const [verb, preposition] = memberVerbs[event.kind]!
    const happenedAt = isPublic ? isoTime(event.happened_at) : event.happened_at
    const expiryDate = textIn(event.payload, 'expires_at') ?? textIn(event.facts, 'expires_at')
    return {
      event_name: `user_${verb}_${preposition}_group`,
      created_at: happenedAt,
      updated_at: happenedAt,
      group_name: group.name,
      group_path: group.path,
      group_id: group.id,
      ...(await memberOf(ctx, event, isPublic)),
      group_access: levelOf(event),
      expires_at: isPublic && expiryDate ? `${expiryDate}T00:00:00Z` : expiryDate,
    }
  }

export const memberPayload: Builder = groupMemberPayload(true)

const forAdministrators = groupMemberPayload(false)

/** What only system hooks receive. */
export const systemPayload: Builder = (ctx, source) => {
  const { kind, group_id } = source.event
  if (kind.startsWith('member_')) return (group_id === null ? teamPayload : forAdministrators)(ctx, source)
  if (kind.startsWith('project_')) return projectPayload(ctx, source)
  if (kind.startsWith('group_')) return groupPayload(ctx, source)
  if (kind.startsWith('ssh_key_')) return keyPayload(ctx, source)
  return accountPayload(ctx, source)
}
