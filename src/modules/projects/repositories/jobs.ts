import { join } from 'node:path'
import { Type } from 'typebox'
import { removeOldLeftovers } from '../../../git/repository/leftovers.ts'
import { job } from '../../../jobs/job.ts'
import { shardsOf, storagesIn } from './location.ts'

/** Longer than creating or deleting any repository takes. */
const minAgeMs = 60 * 60_000

/** Deletes temporary folders of repositories that a killed process left. */
export const removeRepositoryLeftovers = job({
  name: 'remove_repository_leftovers',
  input: Type.Object({}),
  key: () => 'remove_repository_leftovers',
  attempts: 3,
  every: { cron: '45 3 * * *', input: {} },
  async run(_input, ctx) {
    let removed = 0
    for (const storage of await storagesIn(ctx.repositoriesDir))
      for (const kind of ['projects', 'side'] as const)
        for (const shard of await shardsOf(join(ctx.repositoriesDir, storage), kind))
          removed += await removeOldLeftovers(shard, minAgeMs)
    if (removed > 0) ctx.log.info({ removed }, 'deleted temporary folders of repositories')
  },
})
