import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable } from '../../../api/schema.ts'
import { namespaceUrl, pictureUrl } from '../../namespaces/index.ts'
import type { GroupReferenceRow } from './reference-row.ts'

/** A group in few words, where one is chosen or named beside something else. */
export const GroupReference = entity({
  name: 'GroupReference',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the group' }),
    web_url: nullable(Type.String(), { description: 'URL of the group page' }),
    name: Type.String({ description: 'Name of the group' }),
    avatar_url: nullable(Type.String(), { description: 'URL of the avatar; null if there is none' }),
    full_name: Type.String({ description: 'Names of all parent groups and of the group, joined by ` / `' }),
    full_path: Type.String({ description: 'Path with all parent groups' }),
  }),
  present: (row: GroupReferenceRow, { site }) => ({
    id: row.id,
    web_url: namespaceUrl(site, 'group', row.full_path),
    name: row.name,
    avatar_url: pictureUrl(site, 'group', row.id, row.avatar),
    full_name: row.full_name,
    full_path: row.full_path,
  }),
})
