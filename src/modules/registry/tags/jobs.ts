import { Type } from 'typebox'
import { job } from '../../../jobs/job.ts'
import { projectOnBehalf } from '../../projects/index.ts'
import { deleteSelected } from './bulk-deletion.ts'

const orNull = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S) => Type.Union([schema, Type.Null()])

/** Deletes the tags of a repository that match, as long as the user who requested it may do so. */
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
    const mayStill = async () =>
      (await projectOnBehalf(ctx, actorId, repository.projectId, 'admin_container_image')) !== undefined
    if (!(await mayStill())) return
    const selection = { delete: nameRegex, keep: keepRegex, keepN, olderThan }
    await deleteSelected(ctx, repository, selection, { actorId, mayStill })
  },
})
