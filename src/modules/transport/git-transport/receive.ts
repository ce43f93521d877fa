import { type Actor, accountOf } from '../../../access/actor.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import type { RefName } from '../../../git/format/ref-name.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { damageIn } from '../../../git/runner/damage.ts'
import type { MoveOutcome } from '../../../git/transfer/ref-moves.ts'
import { receivePack, type Transfer, type TransferOptions } from '../../../git/transfer/transfer.ts'
import { Failure } from '../../../kernel/failure.ts'
import { authenticateDerived, credentialOf, gitRefusals, type Refusal } from '../../accounts/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import {
  type AnswerToPush,
  changesRef,
  collectAnswers,
  completePush,
  decide,
  decideSide,
  discardChanges,
  discardPush,
  LateRefusal,
  linesOf,
  linesOfOffence,
  movePushedRefs,
  type NewPush,
  type ParsedPushOptions,
  parsePushOptions,
  recordIntent,
  refusedPush,
  settle,
  withoutMergeRequests,
} from '../../pushes/index.ts'
import { type GitTransport, urlToRepo } from './access.ts'
import { type GitTarget, openToPush } from './target.ts'

const mebibyte = 1024 * 1024

export type Push = Transfer & {
  /**
   * Writes the effects of the push, unless that has happened. Await it after `done` settles either way, because refs may have
   * moved even if the client disconnected, and before the response to the client ends, so that a client that waits for git sees
   * the effects.
   */
  settled(): Promise<void>
}

type ReceiveOptions = TransferOptions & {
  readonly transport: GitTransport
  /** Sources of the lines that the client prints after the push. */
  readonly answers: readonly AnswerToPush[]
  /** See `git/transfer/transfer.ts`. */
  readonly staysOpen?: boolean
  /** The project was created for this push. */
  readonly created?: boolean
  /** Why the credential may not be used any more, apart from the account and its token; undefined if it may. */
  readonly refusedNow?: () => Promise<string | undefined>
}

/**
 * Receives a push that `gitAccess` allowed. Rules are checked and the intent is journaled while the objects are in
 * quarantine. Effects are committed, and the client has its answers, before git reports the refs.
 */
export async function receivePush(
  ctx: Ctx,
  target: GitTarget,
  { transport, answers, created = false, refusedNow, ...transfer }: ReceiveOptions,
): Promise<Push> {
  const actor = ctx.actor!
  const limit = ctx.settings.receive_max_input_size ?? 0
  let push: (NewPush & { id: number }) | undefined
  /** No ref was touched unless this is set. */
  let outcomes: ReadonlyMap<RefName, MoveOutcome> | 'unknown' | undefined
  let parsed: ParsedPushOptions = { options: {}, valid: [], warnings: [] }
  let settling: Promise<readonly RefChange[]> | undefined
  const { repo, of } = await openToPush(ctx, target)
  const { stream, done } = await receivePack(repo, {
    ...transfer,
    ...(limit > 0 && { maxInputBytes: limit * mebibyte }),
    async onVerdict({ updates, pushOptions, quarantine }) {
      const refusal = async () => {
        const refused = await refusalOf(ctx, target, updates, async () => quarantine, transport)
        const lost = refused ? undefined : await refusedNow?.()
        return lost === undefined ? refused : [lost]
      }
      const messages = await refusal()
      // The project stays for the next push, to which the client can correct this one.
      if (messages)
        return { ok: false, messages: [...messages, ...(created ? createdMessage(ctx, target, transport) : [])] }
      // They are about projects.
      if ('project' in target) parsed = parsePushOptions(pushOptions)
      const intended = {
        ...of,
        actorId: accountOf(actor),
        transport,
        tokenId: actor.tokenId,
        // What follows from options has the rights of the actor, who is not the machine but its creator.
        options: isMachine(actor) ? withoutMergeRequests(parsed.valid) : parsed.valid,
        changes: updates.filter(changesRef),
      }
      try {
        const requireStill = async () => {
          const lines = await refusal()
          if (lines) throw new LateRefusal(lines.join('\n'))
        }
        if (intended.changes.length > 0) push = { id: await recordIntent(ctx, intended, requireStill), ...intended }
      } catch (error) {
        if (!(error instanceof LateRefusal)) throw error
        return { ok: false, messages: error.message.split('\n') }
      }
      const warnings = updates
        .filter((update) => !changesRef(update))
        .map(({ name }) => `warning: deleting a non-existent ref: ${name}`)
      return { ok: true, messages: [...warnings, ...(created ? createdMessage(ctx, target, transport) : [])] }
    },
    onUndecided: (error) => logUndecided(ctx, error, of),
    async onMove(updates, isAtomic) {
      outcomes = 'unknown'
      outcomes = await movePushedRefs(repo, updates, isAtomic)
      return outcomes
    },
    async afterMoves() {
      try {
        const changes = await settled()
        if (!push || changes.length === 0 || !('project' in target)) return []
        const { options, warnings } = parsed
        const completed = { id: push.id, projectId: target.project.id, options, changes }
        return linesOf([{ warnings, notices: [] }, ...(await collectAnswers(ctx, answers, completed))])
      } catch {
        // `settled` rejects again, and breaks the response.
        return []
      }
    },
  })
  async function concludeBy(
    outcomes: ReadonlyMap<RefName, MoveOutcome>,
    push: NewPush & { id: number },
  ): Promise<readonly RefChange[]> {
    const by = Object.groupBy(push.changes, ({ name }) => certaintyOf(outcomes.get(name)))
    const { moved = [], unmoved = [], unknown = [] } = by
    if (moved.length + unknown.length === 0) return discard(push.id)
    if (unmoved.length > 0) await discardChanges(ctx, push.id, unmoved)
    if (unknown.length > 0 || !('projectId' in push && 'project' in target))
      return settle(ctx, push.id, new Set(moved.map(({ name }) => name)))
    return completePush(ctx, repo, { ...push, changes: moved }, target.project.default_branch)
  }
  async function discard(id: number): Promise<readonly RefChange[]> {
    await discardPush(ctx, id)
    return []
  }
  async function conclude(): Promise<readonly RefChange[]> {
    if (!push) return []
    if (!outcomes) return discard(push.id)
    return outcomes === 'unknown' ? settle(ctx, push.id) : concludeBy(outcomes, push)
  }
  function settled(): Promise<readonly RefChange[]> {
    settling ??= conclude()
    return settling
  }
  return { stream, done, settled: async () => void (await settled()) }
}

/** Logs what the client did not cause. */
function logUndecided({ log }: Ctx, error: unknown, of: object): void {
  const damage = damageIn(error)
  const message = 'a push was refused because it could not be decided'
  if (damage || !(error instanceof Failure)) log.error({ err: damage ?? error, ...of }, message)
  else if (error.kind === 'unavailable' || error.kind === 'storage_full') log.warn({ err: error, ...of }, message)
}

/** Why the push is refused, decided with current facts: it may have taken long. */
async function refusalOf(
  before: Ctx,
  target: GitTarget,
  changes: readonly RefChange[],
  objects: () => Promise<Repository>,
  transport: GitTransport,
): Promise<readonly string[] | undefined> {
  const now = await currentActor(before)
  if ('refused' in now) return [now.refused]
  const ctx = { ...before, actor: now.actor }
  if ('project' in target) {
    const verdict = await decide(ctx, target.project.id, changes, objects, { transport })
    if (verdict.refused === undefined) return undefined
    return verdict.offence ? linesOfOffence(verdict.offence) : [verdict.refused]
  }
  const { kind, subject } = target.side
  const refused = await decideSide(ctx, kind, subject.holder, changes, objects)
  return refused === undefined ? undefined : [refused]
}

/** The actor as account and credential are now, or why they may not act any more. A deploy key has its level in the project, which is loaded again. */
async function currentActor({ db, actor, impersonation }: Ctx): Promise<{ actor: Actor } | { refused: string }> {
  if (isMachine(actor!)) return { actor: actor! }
  const found = await authenticateDerived(db, credentialOf(actor!), { impersonation })
  return 'actor' in found ? found : { refused: messageOf(found.refused) }
}

const messageOf = (refusal: Refusal): string =>
  refusal in gitRefusals ? gitRefusals[refusal as keyof typeof gitRefusals] : refusedPush

const isMachine = ({ deployKey, deployToken }: Actor): boolean => (deployKey ?? deployToken) !== undefined

/** Git refused a change without an outcome before it ran the hook. */
const certaintyOf = (outcome: MoveOutcome | undefined): 'moved' | 'unmoved' | 'unknown' =>
  outcome === 'moved' ? 'moved' : outcome?.mayHaveMoved ? 'unknown' : 'unmoved'

const createdMessage = (ctx: Ctx, target: GitTarget, transport: GitTransport): string[] =>
  'project' in target ? messageAbout(ctx, target.project, transport) : []

const messageAbout = (ctx: Ctx, project: ProjectSubject, transport: GitTransport): string[] => [
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
