import { Type } from 'typebox'
import { allows } from '../../access/policy.ts'
import { projectPolicy } from '../../access/project-policy.ts'
import type { Ctx } from '../../api/ctx.ts'
import { copyRefs } from '../../git/copy.ts'
import { GitError } from '../../git/git-error.ts'
import type { Repository } from '../../git/repository.ts'
import { job } from '../../jobs/job.ts'
import { type Filling, fillRepository, ImportRefusal } from '../imports/fill.ts'
import type { ImportRow } from '../imports/queries.ts'
import { linkAllFrom } from '../large-files/queries.ts'
import { loadProject } from '../projects/subject.ts'
import { openRepository } from '../repositories/open.ts'
import { accountRefusal, actorOf } from '../tokens/authenticate.ts'
import { findAccount } from '../tokens/queries.ts'

/** Brings a fork what its source has: branches, tags and large files. */
export const copySource = job({
  name: 'copy_source',
  input: Type.Object({ projectId: Type.Integer(), storage: Type.String(), sourceId: Type.Integer() }),
  key: ({ projectId }) => `copy_source:${projectId}`,
  // One after the other: copying packs keeps a processor busy.
  queue: () => 'forks',
  attempts: 10,
  run: ({ sourceId, ...place }, ctx) =>
    fillRepository(
      ctx,
      place,
      (repo, wish) => copy(ctx, repo, sourceId, wish),
      async (tx) => {
        // So that they stay when the source goes.
        await linkAllFrom(tx, sourceId, place.projectId)
      },
    ),
})

/** A source that is packed anew at this moment may take a pack away from under git. */
const copyAttempts = 3

async function copy(ctx: Ctx, target: Repository, sourceId: number, { actor_id }: ImportRow): Promise<Filling> {
  const source = await readableSource(ctx, sourceId, actor_id)
  if (!source) throw new ImportRefusal('The source project is not there any more.')
  for (let attempt = 1; ; attempt++) {
    try {
      const refs = await copyRefs(target, openRepository(ctx, source))
      return { refs, defaultBranch: source.default_branch }
    } catch (error) {
      // A signal ended us as well: that is for the next run.
      if (!(error instanceof GitError) || error.signal !== null) throw error
      if (attempt < copyAttempts) continue
      ctx.log.error({ err: error, source: sourceId }, 'a source could not be copied')
      throw new ImportRefusal('The repository of the source project could not be read.')
    }
  }
}

/** The source, if whoever wished the fork may still have it. */
async function readableSource(ctx: Ctx, sourceId: number, actorId: number | null) {
  const account = actorId === null ? undefined : await findAccount(ctx.db, String(actorId))
  if (!account || accountRefusal(account)) return undefined
  const asker = { ...ctx, actor: actorOf(account) }
  const source = await loadProject(String(sourceId), asker)
  return source && allows(projectPolicy.fork_project, asker.actor, source.facts) ? source : undefined
}
