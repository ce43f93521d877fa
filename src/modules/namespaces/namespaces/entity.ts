import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import type { RecordView } from '../../../api/record-view.ts'
import { nullable } from '../../../api/schema.ts'
import type { Site } from '../../../api/site.ts'
import { avatarUrl, type Pictured, pictureUrl } from '../avatars/addresses.ts'
import type { NamespaceWithLevel } from './queries.ts'

/** The page of a user or group. */
export const namespaceUrl = (site: Site, kind: 'user' | 'group', fullPath: string): string =>
  kind === 'group' ? `${site.url}/groups/${fullPath}` : `${site.url}/${fullPath}`

/** The avatar of the group, or of the user with this personal namespace. */
export const namespacePicture = (
  { id, avatar, owner }: { id: number; avatar: string | null; owner: Pictured | null },
  ctx: Pick<RecordView, 'site' | 'settings'>,
): string | null => (owner ? avatarUrl(owner, ctx) : pictureUrl(ctx.site, 'group', id, avatar))

export const Namespace = entity({
  name: 'Namespace',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the namespace' }),
    name: Type.String({ description: 'Name of the group or user' }),
    path: Type.String({ description: 'Last segment of the path' }),
    kind: Type.Union([Type.Literal('user'), Type.Literal('group')], {
      description: 'Kind of the namespace: of a user, or a group',
    }),
    full_path: Type.String({ description: 'Path with all parent groups' }),
    parent_id: nullable(Type.Integer(), { description: 'ID of the parent group; null for users and top-level groups' }),
    avatar_url: nullable(Type.String(), { description: 'URL of the avatar; null if there is none' }),
    web_url: Type.String({ description: 'URL of the group or profile page' }),
    members_count_with_descendants: Type.Optional(
      Type.Integer({ description: 'Members of the group and of its subgroups; only for members who manage the group' }),
    ),
  }),
  present: (row: NamespaceWithLevel, ctx) => ({
    id: row.id,
    name: row.name,
    path: row.path,
    kind: row.kind,
    full_path: row.full_path,
    parent_id: row.parent_id,
    avatar_url: namespacePicture(row, ctx),
    web_url: namespaceUrl(ctx.site, row.kind, row.full_path),
    ...(row.members_count !== null && { members_count_with_descendants: row.members_count }),
  }),
})
