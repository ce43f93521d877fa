import { boolean, date, integer, nullable, type RowOf, text } from '../src/db/row.ts'
import { raw } from '../src/db/sql.ts'
import type { World } from './world.ts'

const namespaceRow = {
  id: integer,
  kind: text,
  parent_id: nullable(integer),
  owner_id: nullable(integer),
  locked: boolean,
}
const membershipRow = {
  user_id: integer,
  namespace_id: nullable(integer),
  project_id: nullable(integer),
  level: integer,
  ends: nullable(date),
}
const linkRow = { subject_id: integer, group_id: integer, level: integer, ends: nullable(date) }
const storedRow = { user_id: integer, subject_id: integer, level: integer, ends: nullable(date) }
type Namespace = RowOf<typeof namespaceRow>
type Link = RowOf<typeof linkRow>
type Stored = RowOf<typeof storedRow>

/** An access level until a day (exclusive); null has no end. */
type Grant = { userId: number; level: number; ends: string | null }

const sooner = (a: string | null, b: string | null): string | null => (a === null ? b : b === null || a < b ? a : b)

/** Days on which levels are compared: those between which nothing changes in the fixtures. */
const days = Array.from({ length: 6 }, (_, index) =>
  new Date(Date.now() + index * 86_400_000).toISOString().slice(0, 10),
)

/** `user id → level on each of the days`, from any grants. Users without a level are left out. */
function levelsByDay(grants: readonly Grant[]): Record<string, string> {
  const all = new Map<number, number[]>()
  for (const { userId, level, ends } of grants) {
    const levels = all.get(userId) ?? days.map(() => 0)
    all.set(
      userId,
      levels.map((known, index) => (ends === null || ends > days[index]! ? Math.max(known, level) : known)),
    )
  }
  const held = [...all].filter(([, levels]) => levels.some((level) => level > 0)).sort(([a], [b]) => a - b)
  return Object.fromEntries(held.map(([userId, levels]) => [userId, levels.join(' ')]))
}

export type Access = Record<string, Record<string, string>>

/**
 * Access levels of all users: as indexed (`stored`), and computed from memberships and links by a direct reading of the rules
 * (`expected`). Namespaces and projects that are being removed do not count.
 */
export async function compareAccess(world: World): Promise<{ stored: Access; expected: Access }> {
  const [namespaces, projects, members, projectLinks, groupLinks, groupAccess, projectAccess] = await Promise.all([
    world.db.rows(
      namespaceRow,
      raw('select id, kind, parent_id, owner_id, share_with_group_lock as locked from namespaces where not deleting'),
    ),
    world.db.rows(
      { id: integer, namespace_id: integer },
      raw('select id, namespace_id from projects where not deleting'),
    ),
    world.db.rows(
      membershipRow,
      raw('select user_id, namespace_id, project_id, access_level as level, expires_at as ends from members'),
    ),
    world.db.rows(
      linkRow,
      raw(
        'select project_id as subject_id, group_id, group_access as level, expires_at as ends from project_group_links',
      ),
    ),
    world.db.rows(
      linkRow,
      raw(
        'select shared_group_id as subject_id, shared_with_group_id as group_id, group_access as level, expires_at as ends from group_group_links',
      ),
    ),
    world.db.rows(
      storedRow,
      raw(`select user_id, group_id as subject_id, level, nullif(expires_on, 'infinity') as ends from group_access`),
    ),
    world.db.rows(
      storedRow,
      raw(
        `select user_id, project_id as subject_id, level, nullif(expires_on, 'infinity') as ends from project_access`,
      ),
    ),
  ])

  const byId = new Map(namespaces.map((each) => [each.id, each]))
  const withAncestors = (id: number): Namespace[] => {
    const one = byId.get(id)
    return one === undefined ? [] : [one, ...(one.parent_id === null ? [] : withAncestors(one.parent_id))]
  }
  /** Memberships of a group and its ancestors. */
  const membersOf = (groupId: number): Grant[] =>
    withAncestors(groupId).flatMap(({ id }) =>
      members
        .filter(({ namespace_id }) => namespace_id === id)
        .map(({ user_id, level, ends }) => ({ userId: user_id, level, ends })),
    )
  const through = ({ group_id, level, ends }: Link): Grant[] =>
    membersOf(group_id).map((grant) => ({
      userId: grant.userId,
      level: Math.min(grant.level, level),
      ends: sooner(grant.ends, ends),
    }))

  const expected: Access = {}
  const stored: Access = {}
  const grantsIn = (rows: readonly Stored[], id: number): Grant[] =>
    rows
      .filter(({ subject_id }) => subject_id === id)
      .map(({ user_id, level, ends }) => ({ userId: user_id, level, ends }))

  for (const { id, owner_id } of namespaces) {
    const chain = withAncestors(id).map((each) => each.id)
    expected[`namespace ${id}`] = levelsByDay([
      ...membersOf(id),
      ...groupLinks.filter(({ subject_id }) => chain.includes(subject_id)).flatMap(through),
      ...(owner_id === null ? [] : [{ userId: owner_id, level: 50, ends: null }]),
    ])
    stored[`namespace ${id}`] = levelsByDay(grantsIn(groupAccess, id))
  }
  for (const { id, namespace_id } of projects) {
    const own = members
      .filter(({ project_id }) => project_id === id)
      .map(({ user_id, level, ends }) => ({ userId: user_id, level, ends }))
    const shared = byId.get(namespace_id)?.locked
      ? []
      : projectLinks.filter(({ subject_id }) => subject_id === id).flatMap(through)
    expected[`project ${id}`] = levelsByDay([...own, ...shared])
    stored[`project ${id}`] = levelsByDay(grantsIn(projectAccess, id))
  }
  return { stored, expected }
}
