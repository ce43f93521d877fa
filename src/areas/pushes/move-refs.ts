import type { Ctx } from '../../api/ctx.ts'
import { updateRefs } from '../../git/refs.ts'
import type { Repository } from '../../git/repository.ts'
import { Failure } from '../../kernel/failure.ts'
import type { RefChange } from './change.ts'
import { decide } from './decide.ts'
import { intend, settle } from './journal.ts'
import type { DoorName } from './queries.ts'

/** The verdict was no. */
export class PushRefusal extends Failure {
  override name = 'PushRefusal'
  /** The reason, as it is told to who pushes. */
  readonly complaint: string

  constructor(complaint: string) {
    super('forbidden', `Forbidden - ${complaint}`)
    this.complaint = complaint
  }
}

/**
 * Moves refs of a project for the caller, all or none, with the same verdict, journal and consequences as a push. Objects
 * must be in the repository. `stale` when a ref is not where `from` says: nothing has moved. A refusal is thrown.
 */
export async function moveRefs(
  ctx: Ctx,
  projectId: number,
  repo: Repository,
  changes: readonly RefChange[],
  door: DoorName = 'api',
): Promise<'moved' | 'stale'> {
  const complaint = await decide(ctx, projectId, changes, repo)
  if (complaint !== undefined) throw new PushRefusal(complaint)
  const pushId = await intend(ctx, { projectId, actorId: ctx.actor?.id ?? null, door, options: [], changes })
  try {
    return await updateRefs(
      repo,
      changes.map(({ name, from, to }) => ({ name, from: from ?? 'absent', to })),
    )
  } finally {
    // Whatever became of it, the refs tell.
    await settle(ctx, pushId)
  }
}
