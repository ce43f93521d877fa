import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { timestamp } from '../../../api/schema.ts'
import type { Timestamp } from '../../../db/types.ts'
import type { ProjectRow } from '../../projects/index.ts'

export const ProjectStorage = entity({
  name: 'ProjectStorage',
  schema: Type.Object({
    project_id: Type.Integer({ description: 'ID of the project' }),
    disk_path: Type.String({ description: 'Path of the repository in its storage, without `.git`' }),
    created_at: timestamp('Time at which the project was created'),
    repository_storage: Type.String({ description: 'Storage that has the repository, such as `default`' }),
  }),
  present: ({ project, path, created_at }: { project: ProjectRow; path: string; created_at: Timestamp }) => ({
    project_id: project.id,
    disk_path: path,
    created_at,
    repository_storage: project.repository_storage,
  }),
})
