import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { dateOnly, nullable } from '../../../api/schema.ts'
import type { ProjectShareRow } from './queries.ts'

export const ProjectGroupLink = entity({
  name: 'ProjectGroupLink',
  schema: Type.Object({
    id: Type.Integer(),
    project_id: Type.Integer(),
    group_id: Type.Integer(),
    group_access: Type.Integer({ description: 'Maximum access level for members of the group' }),
    expires_at: nullable(dateOnly()),
  }),
  present: ({ id, project_id, group_id, group_access, expires_at }: ProjectShareRow) => ({
    id,
    project_id,
    group_id,
    group_access,
    expires_at,
  }),
})
