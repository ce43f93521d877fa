import { Type } from 'typebox'
import { entity } from '../../api/entity.ts'
import { nullable } from '../../api/schema.ts'
import type { Site } from '../../api/site.ts'
import type { NamespaceWithLevel } from './queries.ts'

/** The page of a user or group. */
export const namespaceUrl = (site: Site, kind: 'user' | 'group', fullPath: string): string =>
  kind === 'group' ? `${site.url}/groups/${fullPath}` : `${site.url}/${fullPath}`

export const Namespace = entity({
  name: 'Namespace',
  schema: Type.Object({
    id: Type.Integer(),
    name: Type.String(),
    path: Type.String(),
    kind: Type.Union([Type.Literal('user'), Type.Literal('group')]),
    full_path: Type.String(),
    parent_id: nullable(Type.Integer()),
    avatar_url: nullable(Type.String()),
    web_url: Type.String(),
    members_count_with_descendants: Type.Optional(Type.Integer({ description: 'Shown to those who manage the group' })),
  }),
  present: (row: NamespaceWithLevel, { site }) => ({
    id: row.id,
    name: row.name,
    path: row.path,
    kind: row.kind,
    full_path: row.full_path,
    parent_id: row.parent_id,
    avatar_url: row.avatar === null ? null : `${site.url}/uploads/-/system/${row.kind}/avatar/${row.id}/${row.avatar}`,
    web_url: namespaceUrl(site, row.kind, row.full_path),
    ...(row.members_count !== null && { members_count_with_descendants: row.members_count }),
  }),
})
