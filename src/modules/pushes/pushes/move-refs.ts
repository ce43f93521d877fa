import type { Ctx } from '../../../api/ctx.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import { NothingMoved, updateRefs } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { type Failure, forbidden, invalid } from '../../../kernel/failure.ts'
import { decide } from './decide.ts'
import { completePush, discardPush, recordIntent, settle } from './journal.ts'
import type { PushMode } from './rule.ts'

export type MoveOptions = Partial<PushMode> & {
  /** Turns the reason of a refusal into a failure. Default: `invalid` for the push rule of the project, else `forbidden`. */
  readonly refusal?: (reason: string) => Failure
  /** Stores the new objects, in parallel with the decision and the journal. Default: they are stored already. */
  readonly store?: () => Promise<void>
  /** Push options. Default: none. */
  readonly options?: readonly string[]
}

/**
 * Moves refs of a project for the caller, all or none, with the same rules, journal and effects as a push. `stale` if a
 * ref is not at `from`: nothing has moved. A refusal throws `forbidden` with the reason, or the result of `refusal`.
 */
export async function moveRefs(
  ctx: Ctx,
  projectId: number,
  repo: Repository,
  changes: readonly RefChange[],
  { transport = 'api', refusal, store = async () => {}, options = [], ...mode }: MoveOptions = {},
): Promise<'moved' | 'stale'> {
  const push = { projectId, actorId: ctx.actor?.id ?? null, transport, options, changes }
  const stored = store()
  const objects = () => stored.then(() => repo)
  // Waits for both even if one fails.
  const [intent, storing] = await Promise.allSettled([
    decide(ctx, projectId, changes, objects, { transport, ...mode }).then(async (verdict) => {
      if (verdict.refused !== undefined) throw (refusal ?? (verdict.offence ? invalid : forbidden))(verdict.refused)
      return { id: await recordIntent(ctx, push), main: verdict.project.default_branch }
    }),
    stored,
  ])
  if (intent.status === 'rejected') throw intent.reason
  const { id, main } = intent.value
  if (storing.status === 'rejected') {
    await discardPush(ctx, id)
    throw storing.reason
  }
  let outcome: 'moved' | 'stale' | 'failed' | undefined
  try {
    outcome = await updateRefs(
      repo,
      changes.map(({ name, from, to }) => ({ name, from: from ?? 'absent', to })),
    )
    return outcome
  } catch (error) {
    if (error instanceof NothingMoved) outcome = 'failed'
    throw error
  } finally {
    // A certain outcome is not compared with the refs: another push may have moved a ref to the same place. Without an
    // outcome the refs decide.
    if (outcome === 'moved') await completePush(ctx, repo, { id, ...push }, main)
    else await (outcome === undefined ? settle(ctx, id) : discardPush(ctx, id))
  }
}
