import { accountOf } from '../../../access/actor.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { RefName } from '../../../git/format/ref-name.ts'
import type { MoveOutcome } from '../../../git/transfer/ref-moves.ts'
import { receivePack, type Transfer, type TransferOptions } from '../../../git/transfer/transfer.ts'
import { openForWriting, type ProjectSubject } from '../../projects/index.ts'
import {
  changesRef,
  completePush,
  decide,
  discardChanges,
  discardPush,
  movePushedRefs,
  type NewPush,
  recordIntent,
  settle,
} from '../../pushes/index.ts'
import { type GitTransport, urlToRepo } from './access.ts'

const mebibyte = 1024 * 1024

export type Push = Transfer & {
  /**
   * Writes the effects of the push. Await it after `done` settles either way, because refs may have moved even if the
   * client disconnected, and before the response to the client ends, so that a client that waits for git sees the
   * effects.
   */
  settled(): Promise<void>
}

/**
 * Receives a push that `gitAccess` allowed. Rules are checked and the intent is journaled while the objects are in
 * quarantine. `created`: the project was created for this push.
 */
export async function receivePush(
  ctx: Ctx,
  project: ProjectSubject,
  { transport, created = false, ...transfer }: TransferOptions & { transport: GitTransport; created?: boolean },
): Promise<Push> {
  const limit = ctx.settings.receive_max_input_size ?? 0
  let push: (NewPush & { id: number }) | undefined
  /** No ref was touched unless this is set. */
  let outcomes: ReadonlyMap<RefName, MoveOutcome> | 'unknown' | undefined
  const repo = await openForWriting(ctx, project)
  const { stream, done } = await receivePack(repo, {
    ...transfer,
    ...(limit > 0 && { maxInputBytes: limit * mebibyte }),
    async onVerdict({ updates, pushOptions, quarantine }) {
      const { refused } = await decide(ctx, project.id, updates, async () => quarantine, { transport })
      if (refused !== undefined) return { ok: false, messages: [refused] }
      const intended = {
        projectId: project.id,
        actorId: accountOf(ctx.actor!),
        transport,
        options: pushOptions,
        changes: updates.filter(changesRef),
      }
      if (intended.changes.length > 0) push = { id: await recordIntent(ctx, intended), ...intended }
      const warnings = updates
        .filter((update) => !changesRef(update))
        .map(({ name }) => `warning: deleting a non-existent ref: ${name}`)
      return { ok: true, messages: [...warnings, ...(created ? createdMessage(ctx, project, transport) : [])] }
    },
    async onMove(updates, isAtomic) {
      outcomes = 'unknown'
      outcomes = await movePushedRefs(repo, updates, isAtomic)
      return outcomes
    },
  })
  async function concludeBy(
    outcomes: ReadonlyMap<RefName, MoveOutcome>,
    push: NewPush & { id: number },
  ): Promise<void> {
    const by = Object.groupBy(push.changes, ({ name }) => certaintyOf(outcomes.get(name)))
    const { moved = [], unmoved = [], unknown = [] } = by
    if (moved.length + unknown.length === 0) return void (await discardPush(ctx, push.id))
    if (unmoved.length > 0) await discardChanges(ctx, push.id, unmoved)
    if (unknown.length > 0) await settle(ctx, push.id, new Set(moved.map(({ name }) => name)))
    else await completePush(ctx, repo, { ...push, changes: moved }, project.default_branch)
  }
  return {
    stream,
    done,
    async settled() {
      if (!push) return
      if (!outcomes) await discardPush(ctx, push.id)
      else if (outcomes === 'unknown') await settle(ctx, push.id)
      else await concludeBy(outcomes, push)
    },
  }
}

/** Git refused a change without an outcome before it ran the hook. */
const certaintyOf = (outcome: MoveOutcome | undefined): 'moved' | 'unmoved' | 'unknown' =>
  outcome === 'moved' ? 'moved' : outcome?.mayHaveMoved ? 'unknown' : 'unmoved'

const createdMessage = (ctx: Ctx, project: ProjectSubject, transport: GitTransport): string[] => [
  '',
  `The private project ${project.full_path} was successfully created.`,
  '',
  'To configure the remote, run:',
  `  git remote add origin ${urlToRepo(ctx.site, transport, project.full_path)}`,
  '',
  'To view the project, visit:',
  `  ${ctx.site.url}/${project.full_path}`,
  '',
]
