import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { accessLevel, dateOnly, nullable } from '../../../api/schema.ts'
import type { ProjectShareRow } from './queries.ts'

export const ProjectGroupLink = entity({
  name: 'ProjectGroupLink',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the share' }),
    project_id: Type.Integer({ description: 'ID of the project' }),
    group_id: Type.Integer({ description: 'ID of the group that got access' }),
    group_access: accessLevel('Maximum access level for members of the group'),
    expires_at: nullable(dateOnly(), {
      description: 'Expiry date, no access from this day on; null if it does not expire',
    }),
  }),
  present: ({ id, project_id, group_id, group_access, expires_at }: ProjectShareRow) => ({
    id,
    project_id,
    group_id,
    group_access,
    expires_at,
  }),
})
