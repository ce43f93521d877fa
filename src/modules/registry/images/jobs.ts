import { Type } from 'typebox'
import { job } from '../../../jobs/job.ts'
import { hideRepository } from './queries.ts'

/** Deletes a repository that is marked. Its tags and manifests stay, hidden, until the retention time ends. */
export const deleteContainerRepository = job({
  name: 'delete_container_repository',
  input: Type.Object({ repositoryId: Type.Integer() }),
  key: ({ repositoryId }) => `delete_container_repository:${repositoryId}`,
  attempts: 10,
  run: ({ repositoryId }, ctx) =>
    ctx.transaction(async (tx) => {
      await hideRepository(tx, repositoryId)
    }),
})
