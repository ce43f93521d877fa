import type { ProjectAbility } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { damageIn } from '../../../git/runner/damage.ts'
import { copyRefs } from '../../../git/transfer/copy.ts'
import { openRepository, projectOnBehalf } from '../../projects/index.ts'
import { linkAllFrom } from '../../pushes/index.ts'
import { RemoteRefusal } from '../remotes/refusal.ts'
import { type Filling, fillRepository, type Place } from './fill.ts'
import type { ImportRow } from './queries.ts'

/** Queue of the jobs that copy repositories. They run one at a time, because copying packs uses a whole CPU core. */
export const copyQueue = 'forks'

/** Source of the content of a new project. */
export type Original = {
  readonly sourceId: number
  /** Ability that the user who requested the copy must still have on the source. */
  readonly ability: ProjectAbility
  /** Requested default branch, used if it exists; default: that of the source. */
  readonly defaultBranch?: string | undefined
}

/** Copies branches, tags and large files of another local project into a new one. The repositories share no objects. */
export function fillFromProject(ctx: Ctx, place: Place, original: Original): Promise<void> {
  let actorId: number | null = null
  return fillRepository(
    ctx,
    place,
    async (repo, pending) => {
      actorId = pending.actor_id
      return copy(ctx, repo, original, pending)
    },
    async (tx) => {
      // The copy may have taken long, and the user may have lost access to the source since it began.
      if (!(await permittedSource(ctx, original, actorId))) throw new RemoteRefusal(noSource)
      // Links the files to the new project, so that they survive deletion of the source.
      await linkAllFrom(tx, original.sourceId, place.projectId)
    },
  )
}

/** Error of a copy whose source is gone or no longer accessible to the user. */
const noSource = 'The source project is not there any more.'

/** A concurrent repack of the source can remove a pack while git reads it, so the copy is retried. */
const copyAttempts = 3

async function copy(ctx: Ctx, target: Repository, original: Original, { actor_id }: ImportRow): Promise<Filling> {
  const source = await permittedSource(ctx, original, actor_id)
  if (!source) throw new RemoteRefusal(noSource)
  for (let attempt = 1; ; attempt++) {
    try {
      const refs = await copyRefs(target, openRepository(ctx, source))
      const { defaultBranch } = original
      const comes = refs.some(({ name }) => name === `refs/heads/${defaultBranch}`)
      return { refs, defaultBranch: comes ? defaultBranch : source.default_branch }
    } catch (error) {
      // A killed git, for example, means that this process is stopping too: the next run repeats the copy.
      if (!damageIn(error)) throw error
      if (attempt < copyAttempts) continue
      ctx.log.error({ err: error, source: source.id }, 'failed to copy the source repository')
      throw new RemoteRefusal('The repository of the source project could not be read.')
    }
  }
}

/** The source, if the user who requested the copy still has the ability on it. */
const permittedSource = async (ctx: Ctx, { sourceId, ability }: Original, actorId: number | null) =>
  (await projectOnBehalf(ctx, actorId, sourceId, ability))?.project
