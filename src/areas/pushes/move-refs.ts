import type { Ctx } from '../../api/ctx.ts'
import { updateRefs } from '../../git/refs.ts'
import type { Repository } from '../../git/repository.ts'
import { type Failure, forbidden } from '../../kernel/failure.ts'
import type { RefChange } from './change.ts'
import { decide } from './decide.ts'
import { drop, intend, settle } from './journal.ts'
import type { Way } from './rule.ts'

export type MoveOptions = Partial<Way> & {
  /** What a refusal with this reason becomes. Default: a `forbidden` failure. */
  readonly refusal?: (reason: string) => Failure
}

/**
 * Moves refs of a project for the caller, all or none, with the same verdict, journal and consequences as a push. Objects
 * must be in the repository. `stale` when a ref is not where `from` says: nothing has moved. A refusal is a `forbidden`
 * failure with the reason, or what `refusal` makes of it.
 */
export async function moveRefs(
  ctx: Ctx,
  projectId: number,
  repo: Repository,
  changes: readonly RefChange[],
  { door = 'api', refusal = forbidden, ...way }: MoveOptions = {},
): Promise<'moved' | 'stale'> {
  const complaint = await decide(ctx, projectId, changes, repo, { door, ...way })
  if (complaint !== undefined) throw refusal(complaint)
  const pushId = await intend(ctx, { projectId, actorId: ctx.actor?.id ?? null, door, options: [], changes })
  let outcome: 'moved' | 'stale' | undefined
  try {
    outcome = await updateRefs(
      repo,
      changes.map(({ name, from, to }) => ({ name, from: from ?? 'absent', to })),
    )
    return outcome
  } finally {
    // What was stale moved nothing, even where a ref happens to be what was wanted; else the refs tell.
    await (outcome === 'stale' ? drop(ctx, pushId) : settle(ctx, pushId))
  }
}
