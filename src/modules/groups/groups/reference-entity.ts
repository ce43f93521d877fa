import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable } from '../../../api/schema.ts'
import { namespaceUrl, pictureUrl } from '../../namespaces/index.ts'
import type { GroupReferenceRow } from './reference-row.ts'

/** A group in few words, where one is chosen or named beside something else. */
export const GroupReference = entity({
  name: 'GroupReference',
  schema: Type.Object({
    id: Type.Integer(),
    web_url: nullable(Type.String()),
    name: Type.String(),
    avatar_url: nullable(Type.String()),
    full_name: Type.String(),
    full_path: Type.String(),
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
