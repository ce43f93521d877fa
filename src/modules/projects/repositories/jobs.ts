import { join, resolve } from 'node:path'
import { Type } from 'typebox'
import { removeOldLeftovers, removeUnfinishedObjects } from '../../../git/repository/leftovers.ts'
import { job } from '../../../jobs/job.ts'
import { repositoriesIn, shardsOf, storagesIn } from './location.ts'

/** Longer than creating or deleting any repository takes. */
const minAgeMs = 60 * 60_000

/** Longer than a transfer may take (`git/transfer`), and than anything else writes objects that are not in their place yet. */
const minAgeOfObjectsMs = 24 * 60 * 60_000

/** Deletes what a killed process left: temporary folders of repositories, and objects of pushes and fetches that did not end. */
export const removeRepositoryLeftovers = job({
  name: 'remove_repository_leftovers',
  input: Type.Object({}),
  key: () => 'remove_repository_leftovers',
  attempts: 3,
  every: { cron: '45 3 * * *', input: {} },
  async run(_input, ctx) {
    let removed = 0
    let unfinished = 0
    const inUse = (gitDir: string) => async () => (await ctx.git.runner.ownersOfTransfers()).has(resolve(gitDir))
    for (const storage of await storagesIn(ctx.repositoriesDir))
      for (const kind of ['projects', 'side'] as const)
        for (const shard of await shardsOf(join(ctx.repositoriesDir, storage), kind)) {
          removed += await removeOldLeftovers(shard, minAgeMs)
          for (const gitDir of await repositoriesIn(shard))
            unfinished += await removeUnfinishedObjects(gitDir, minAgeOfObjectsMs, inUse(gitDir))
        }
    if (removed > 0) ctx.log.info({ removed }, 'deleted temporary folders of repositories')
    if (unfinished > 0) ctx.log.info({ removed: unfinished }, 'deleted objects of pushes and fetches that were killed')
  },
})
