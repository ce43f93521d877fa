import { Type } from 'typebox'
import { job } from '../../../jobs/job.ts'
import { projectOnBehalf } from '../../projects/index.ts'
import { deleteSelected } from './bulk-deletion.ts'

const orNull = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S) => Type.Union([schema, Type.Null()])

/** Deletes the tags of a repository that match, if the user who requested it may do so now. */
export const deleteTagsInBulk = job({
  name: 'delete_container_tags',
  input: Type.Object({
    repositoryId: Type.Integer(),
    projectId: Type.Integer(),
    actorId: orNull(Type.Integer()),
    nameRegex: Type.String(),
    keepRegex: orNull(Type.String()),
    keepN: orNull(Type.Integer()),
    olderThan: orNull(Type.String()),
  }),
  key: ({ repositoryId }) => `delete_container_tags:${repositoryId}`,
  attempts: 5,
  async run({ nameRegex, keepRegex, keepN, olderThan, actorId, ...repository }, ctx) {
    if (!(await projectOnBehalf(ctx, actorId, repository.projectId, 'admin_container_image'))) return
    await deleteSelected(ctx, repository, { delete: nameRegex, keep: keepRegex, keepN, olderThan }, actorId)
  },
})
