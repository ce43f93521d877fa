import { allows } from '../../../access/policy.ts'
import type { ProjectAbility } from '../../../access/project-policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { GitError } from '../../../git/runner/git-error.ts'
import { copyRefs } from '../../../git/transfer/copy.ts'
import { asAccount } from '../../accounts/index.ts'
import { loadProject, openRepository } from '../../projects/index.ts'
import { linkAllFrom } from '../../pushes/index.ts'
import { type Filling, fillRepository, ImportRefusal, type Place } from './fill.ts'
import type { ImportRow } from './queries.ts'

/** The queue of jobs that copy: one after the other, since copying packs keeps a processor busy. */
export const copyQueue = 'forks'

/** What a new project is a copy of. */
export type Original = {
  readonly sourceId: number
  /** What whoever wished for the copy must still be allowed to do with the source. */
  readonly ability: ProjectAbility
  /** The wished one, if it comes; the source's without. */
  readonly defaultBranch?: string | undefined
}

/** Fills a new project with what another one here has: branches, tags and large files. The two share nothing. */
export function fillFromProject(ctx: Ctx, place: Place, original: Original): Promise<void> {
  let actorId: number | null = null
  return fillRepository(
    ctx,
    place,
    async (repo, wish) => {
      actorId = wish.actor_id
      return copy(ctx, repo, original, wish)
    },
    async (tx) => {
      // The copy may have taken long, and the user may have lost access to the source meanwhile.
      if (!(await permittedSource(ctx, original, actorId))) throw new ImportRefusal(noSource)
      // Links, so that the files stay when the source is deleted.
      await linkAllFrom(tx, original.sourceId, place.projectId)
    },
  )
}

/** Why a copy ends without a source, whether it is gone or the user may no longer have it. */
const noSource = 'The source project is not there any more.'

/** A source that is packed anew at this moment may take a pack away from under git. */
const copyAttempts = 3

async function copy(ctx: Ctx, target: Repository, original: Original, { actor_id }: ImportRow): Promise<Filling> {
  const source = await permittedSource(ctx, original, actor_id)
  if (!source) throw new ImportRefusal(noSource)
  for (let attempt = 1; ; attempt++) {
    try {
      const refs = await copyRefs(target, openRepository(ctx, source))
      const { defaultBranch } = original
      const comes = refs.some(({ name }) => name === `refs/heads/${defaultBranch}`)
      return { refs, defaultBranch: comes ? defaultBranch : source.default_branch }
    } catch (error) {
      // A signal ended us as well: that is for the next run.
      if (!(error instanceof GitError) || error.signal !== null) throw error
      if (attempt < copyAttempts) continue
      ctx.log.error({ err: error, source: source.id }, 'a source could not be copied')
      throw new ImportRefusal('The repository of the source project could not be read.')
    }
  }
}

/** The source, if whoever wished for the copy may still have it. */
async function permittedSource(ctx: Ctx, { sourceId, ability }: Original, actorId: number | null) {
  const asker = actorId === null ? undefined : await asAccount(ctx, actorId)
  if (!asker) return undefined
  const source = await loadProject(String(sourceId), asker)
  return source && allows(projectPolicy[ability], asker.actor, source.facts) ? source : undefined
}
