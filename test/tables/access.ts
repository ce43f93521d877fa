import type { Tx } from '../../src/db/db.ts'
import { sql } from '../../src/db/sql.ts'
import type { World } from '../world.ts'
import { add, change, find, remove, today, type Value } from './statements.ts'

type Place = { readonly project: number } | { readonly group: number }

const columnOf = (place: Place) => ('project' in place ? { project_id: place.project } : { namespace_id: place.group })

/** Adds a member without the consequences that the service adds. */
export const addMember = (world: World, place: Place, user_id: number, access_level: number) =>
  add(world, 'members', { ...columnOf(place), user_id, access_level })

/** Adds a member unless the user is one. */
export const ensureMember = (world: World, column: 'project_id' | 'namespace_id', id: number, userId: number) =>
  world.rows(`insert into members (user_id, ${column}, access_level) values ($1, $2, 10) on conflict do nothing`, [
    userId,
    id,
  ])

export const changeMember = (
  world: World,
  group: number,
  user_id: number,
  values: { readonly [column in 'access_level' | 'expires_at']?: Value },
) => change(world, 'members', { namespace_id: group, user_id }, values)

/** Ends all memberships of a user today, or those in projects only. */
export const endMemberships = (world: World, userId: number, where: 'everywhere' | 'in projects' = 'everywhere') =>
  world.rows(
    `update members set expires_at = current_date where user_id = $1
      ${where === 'in projects' ? 'and project_id is not null' : ''}`,
    [userId],
  )

/** Memberships that end on one date end on another. */
export const moveEndOfMemberships = (world: World, from: string) =>
  change(world, 'members', { expires_at: from }, { expires_at: today })

export const membersLast = (world: World, group: number) =>
  change(world, 'members', { namespace_id: group }, { expires_at: null })

export const groupsOf = (world: World, userId: number) =>
  world.rows('select namespace_id from members where user_id = $1 and namespace_id is not null', [userId])

/** Ids of the users who are members of the group, without the first administrator. */
export const membersBesideRoot = (world: World, group: number) =>
  world.rows('select user_id from members where namespace_id = $1 and user_id <> 1', [group])

export const membershipsOf = (world: World, users: readonly number[]) =>
  find(world, 'members', { user_id: users }, ['user_id'], 'user_id')

export const notificationLevelOf = (world: World, project_id: number, user_id: number) =>
  find(world, 'members', { project_id, user_id }, ['notification_level'])

/** Effective access that a user has no membership for. */
export const addProjectAccess = (world: World, user_id: number, project_id: number) =>
  add(world, 'project_access', { user_id, project_id, level: 30, expires_on: 'infinity' })

export const endGroupAccess = (world: World, user_id: number) =>
  change(world, 'group_access', { user_id }, { expires_on: today })

type AccessTable = 'group_access' | 'project_access'

export const moveEndOfAccess = (world: World, table: AccessTable, from: string) =>
  change(world, table, { expires_on: from }, { expires_on: today })

export const endedAccess = (world: World, table: AccessTable, userId: number) =>
  world.rows(`select from ${table} where user_id = $1 and expires_on <= current_date`, [userId])

export const shareProject = (
  world: World,
  project_id: number,
  group_id: number,
  group_access: number,
  expires_at: string | null = null,
) => add(world, 'project_group_links', { project_id, group_id, group_access, expires_at })

export const changeShare = (world: World, project_id: number, group_id: number, group_access: number) =>
  change(world, 'project_group_links', { project_id, group_id }, { group_access })

export const deleteShare = (world: World, project_id: number, group_id: number) =>
  remove(world, 'project_group_links', { project_id, group_id })

export const endShares = (world: World, project_id: number) =>
  change(world, 'project_group_links', { project_id }, { expires_at: today })

/** As if the day had come on which shares end: without a new version of the row of the project. */
export const reachEndOfShares = (world: World, project_id: number) =>
  world.rows(
    `do $$ begin
      set local session_replication_role = replica;
      update project_group_links set expires_at = current_date where project_id = ${project_id};
    end $$`,
  )

export const projectsSharedWith = (world: World, group_id: number) =>
  find(world, 'project_group_links', { group_id }, ['project_id'])

export const groupsSharedWith = (world: World, shared_with_group_id: number) =>
  find(world, 'group_group_links', { shared_with_group_id })

/** Invitations to an address, in any case of its letters. */
export const invitationsTo = (world: World, email: string) =>
  world.rows('select email from invitations where lower(email) = lower($1)', [email])

/** Locks the row of a member until the transaction ends. */
export const lockMember = (tx: Tx, group: number, user: number) =>
  tx.run(sql`select from members where namespace_id = ${group} and user_id = ${user} for update`)
