import { day, level, moment, orNull, participant, words } from '../../../db/portable/columns.ts'
import { heldBy, type Relation } from '../../../db/portable/relation.ts'
import { raw } from '../../../db/sql.ts'

const address = words(2048, /^https?:\/\//i)

const holderOf = (of: 'project' | 'group'): string => (of === 'project' ? 'project_id' : 'namespace_id')

const members = (of: 'project' | 'group'): Relation => ({
  name: `${of}_members`,
  ...heldBy('members'),
  from: raw(`from members t join users u on u.id = t.user_id and u.kind = 'human'`),
  order: [{ text: 'u.username' }],
  columns: {
    user: { ...participant, column: 'user_id' },
    access_level: level(10, 20, 30, 40, 50),
    expires_at: orNull(day),
    created_at: moment,
    updated_at: moment,
  },
  holder: [holderOf(of)],
  // The importer is a member already, whose level does not change.
  repeats: {
    clause: `on conflict (${holderOf(of)}, user_id) where ${holderOf(of)} is not null
      do update set created_at = excluded.created_at, updated_at = excluded.updated_at`,
  },
  // Who imports a project becomes a maintainer, and can add no one above.
  ...(of === 'project' && {
    amend: (record) => ({ ...record, access_level: Math.min(Number(record['access_level']), 40) }),
  }),
  administrators: 'import',
})

const badges = (of: 'project' | 'group'): Relation => ({
  name: 'badges',
  ...heldBy('badges'),
  order: ['t.id'],
  columns: {
    name: orNull(words(255)),
    link_url: address,
    image_url: address,
    created_at: moment,
    updated_at: moment,
  },
  holder: [holderOf(of)],
})

const customAttributes: Relation = {
  name: 'custom_attributes',
  ...heldBy('custom_attributes'),
  order: [{ text: 't.key' }],
  columns: { key: words(255), value: words(10_000) },
  holder: ['project_id'],
  administrators: 'both',
  repeats: 'skip',
}

/** What `groups` has of a project. Only administrators import members. */
export const projectHoldings: readonly Relation[] = [members('project'), badges('project'), customAttributes]

/** What `groups` has of a group itself. */
export const groupHoldings: readonly Relation[] = [members('group'), badges('group')]
