import type { Ctx } from '../../../api/ctx.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import { NothingMoved, updateRefs } from '../../../git/refs/update-refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { type Failure, forbidden, invalid, rowNotFound } from '../../../kernel/failure.ts'
import { decide } from './decide.ts'
import { completePush, discardPush, LateRefusal, recordIntent, settle } from './journal.ts'
import type { NewPush } from './queries.ts'
import type { PushMode } from './rule.ts'

export type MoveOptions = Partial<PushMode> & {
  /** Turns the reason of a refusal into a failure. Default: `invalid` for the push rule of the project, else `forbidden`. */
  readonly refusal?: (reason: string) => Failure
  /** Stores the new objects, in parallel with the decision and the journal. Default: they are stored already. */
  readonly store?: () => Promise<void>
  /**
   * Writes the rows that the new objects need, before the refs move: a crash in between leaves rows without a commit, which are harmless.
   * Not called if the move is refused.
   */
  readonly link?: () => Promise<void>
  /** Push options. Default: none. */
  readonly options?: readonly string[]
}

/**
 * Moves refs of a project for the caller, all or none, with the same rules, journal and effects as a push. `stale` if a
 * ref is not at `from`: nothing has moved. A refusal throws `forbidden` with the reason, or the result of `refusal`.
 */
export function moveRefs(
  ctx: Ctx,
  projectId: number,
  repo: Repository,
  changes: readonly RefChange[],
  { transport = 'api', refusal, store = async () => {}, link, options = [], ...mode }: MoveOptions = {},
): Promise<'moved' | 'stale'> {
  const push = { projectId, actorId: ctx.actor?.id ?? null, transport, options, changes }
  let main: string | null = null
  const refuse = (reason: string, byPushRule = false) => (refusal ?? (byPushRule ? invalid : forbidden))(reason)
  return moveJournaled(ctx, repo, push, {
    store,
    link,
    async allow(objects) {
      const verdict = await decide(ctx, projectId, changes, objects, { transport, ...mode })
      if (verdict.refused !== undefined) throw refuse(verdict.refused, verdict.offence !== undefined)
      main = verdict.project.default_branch
    },
    complete: (id) => completePush(ctx, repo, { id, ...push }, main),
  }).catch((error: unknown) => {
    throw error instanceof LateRefusal ? refuse(error.message) : error
  })
}

/**
 * Moves refs of a side repository for a caller whose permission was checked, all or none, with the journal and effects of a
 * push. `stale` if a ref is not at `from`: nothing has moved.
 */
export function moveSideRefs(
  ctx: Ctx,
  sideRepositoryId: number,
  repo: Repository,
  changes: readonly RefChange[],
  store: () => Promise<void>,
): Promise<'moved' | 'stale'> {
  const push = { sideRepositoryId, actorId: ctx.actor?.id ?? null, transport: 'api' as const, options: [], changes }
  return moveJournaled(ctx, repo, push, {
    store,
    allow: async () => {},
    complete: (id) => settle(ctx, id, new Set(changes.map(({ name }) => name))),
  }).catch((error: unknown) => {
    throw error instanceof LateRefusal ? rowNotFound() : error
  })
}

type Move = {
  /** Throws if the move is refused; `objects` resolves once the new objects are stored. */
  allow(objects: () => Promise<Repository>): Promise<void>
  store(): Promise<void>
  /** Runs once the move is allowed and recorded, and the objects are stored. */
  readonly link?: (() => Promise<void>) | undefined
  /** Writes the effects of refs that certainly moved. */
  complete(pushId: number): Promise<unknown>
}

async function moveJournaled(
  ctx: Ctx,
  repo: Repository,
  push: NewPush,
  { allow, store, link, complete }: Move,
): Promise<'moved' | 'stale'> {
  const stored = store()
  const objects = () => stored.then(() => repo)
  // Waits for both even if one fails.
  const requireStill = async () => {
    await ctx.transaction(async (tx) => tx.requirePermission?.())
    await allow(objects)
  }
  const intended = allow(objects).then(() => recordIntent(ctx, push, requireStill))
  const [intent, storing] = await Promise.allSettled([intended, stored])
  if (intent.status === 'rejected') throw intent.reason
  const id = intent.value
  try {
    if (storing.status === 'rejected') throw storing.reason
    await link?.()
  } catch (error) {
    await discardPush(ctx, id)
    throw error
  }
  let outcome: 'moved' | 'stale' | 'failed' | undefined
  try {
    outcome = await updateRefs(
      repo,
      push.changes.map(({ name, from, to }) => ({ name, from: from ?? 'absent', to })),
    )
    return outcome
  } catch (error) {
    if (error instanceof NothingMoved) outcome = 'failed'
    throw error
  } finally {
    // A certain outcome is not compared with the refs: another push may have moved a ref to the same place. Without an
    // outcome the refs decide.
    if (outcome === 'moved') await complete(id)
    else await (outcome === undefined ? settle(ctx, id) : discardPush(ctx, id))
  }
}
