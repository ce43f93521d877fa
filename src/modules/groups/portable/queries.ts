import { day, level, moment, orNull, participant, partOf, words } from '../../../db/portable/columns.ts'
import { type Holder, heldBy, type Relation } from '../../../db/portable/relation.ts'
import { raw, type Sql, sql, unexpired } from '../../../db/sql.ts'
import { groupOrder, groupsBelow, heldByGroups } from './tree-queries.ts'

const address = words(2048, /^https?:\/\//i)

const holderOf = (of: 'project' | 'group'): string => (of === 'project' ? 'project_id' : 'namespace_id')

/** The holder of rows of a group is in the record, because the archive has those of all groups below it, too. */
const placeIn = (of: 'project' | 'group') =>
  of === 'project'
    ? { columns: {}, holder: ['project_id'], order: [] }
    : { columns: { group: { ...partOf('groups'), column: 'namespace_id' } }, holder: [], order: groupOrder }

/** Whether the user of the membership `t` has a higher level in one of these groups: no one could be added with less. */
const isBelowInherited = (groupIds: Sql): Sql => sql`
  exists (
    select
    from members m
    where m.user_id = t.user_id
      and m.namespace_id = any(${groupIds})
      and m.access_level > t.access_level
      and ${unexpired('m')}
  )
`

/** The importer stays what the creator of a project becomes. */
const belowInheritedInProject = ({ id }: Holder): Sql => sql`
  delete from members t using projects p, namespaces g
  where p.id = ${id}
    and g.id = p.namespace_id
    and t.project_id = p.id
    and t.user_id is distinct from p.creator_id
    and ${isBelowInherited(raw('g.traversal_ids'))}
`

/** Levels that only other groups of the archive exceed stay as they were there. */
const belowInheritedInGroups = ({ id }: Holder): Sql => sql`
  delete from members t using namespaces g
  where g.id = ${id}
    and t.namespace_id in (${groupsBelow(id)})
    and ${isBelowInherited(raw('array_remove(g.traversal_ids, g.id)'))}
`

const members = (of: 'project' | 'group'): Relation => {
  const { columns, holder, order } = placeIn(of)
  const found = of === 'project' ? heldBy('members') : heldByGroups('members')
  return {
    name: of === 'project' ? 'project_members' : 'members',
    ...found,
    from: sql`${found.from} join users u on u.id = t.user_id and u.kind = 'human'`,
    order: [...order, { text: 'u.username' }],
    columns: {
      ...columns,
      user: { ...participant, column: 'user_id' },
      access_level: level(10, 20, 30, 40, 50),
      expires_at: orNull(day),
      created_at: moment,
      updated_at: moment,
    },
    holder,
    // The importer is a member already, whose level does not change.
    repeats: {
      key: [...Object.keys(columns), 'user'],
      clause: `on conflict (${holderOf(of)}, user_id) where ${holderOf(of)} is not null
        do update set created_at = excluded.created_at, updated_at = excluded.updated_at`,
    },
    // Who imports a project becomes a maintainer, and can add no one above.
    ...(of === 'project' && {
      amend: (record) => ({ ...record, access_level: Math.min(Number(record['access_level']), 40) }),
    }),
    administrators: 'import',
    refuse: of === 'project' ? belowInheritedInProject : belowInheritedInGroups,
  }
}

const badges = (of: 'project' | 'group'): Relation => {
  const { columns, holder, order } = placeIn(of)
  return {
    name: 'badges',
    ...(of === 'project' ? heldBy('badges') : heldByGroups('badges')),
    order: [...order, 't.id'],
    columns: {
      ...columns,
      name: orNull(words(255)),
      link_url: address,
      image_url: address,
      created_at: moment,
      updated_at: moment,
    },
    holder,
  }
}

const customAttributes: Relation = {
  name: 'custom_attributes',
  ...heldBy('custom_attributes'),
  order: [{ text: 't.key' }],
  columns: { key: words(255), value: words(65_535) },
  holder: ['project_id'],
  administrators: 'both',
  repeats: 'skip',
}

/** What `groups` has of a project. Only administrators import members. */
export const projectHoldings: readonly Relation[] = [members('project'), badges('project'), customAttributes]

/** What `groups` has of a group and all groups below it, apart from their members. */
export const groupHoldings: readonly Relation[] = [badges('group')]

/** The members of a group and all groups below it, which only administrators import. */
export const groupMembers: Relation = members('group')
