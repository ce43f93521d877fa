import { accountOf } from '../../../access/actor.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { receivePack, type Transfer, type TransferOptions } from '../../../git/transfer.ts'
import { openForWriting, type ProjectSubject } from '../../projects/index.ts'
import {
  changesRef,
  conclude,
  decide,
  forgetStale,
  intend,
  movePushedRefs,
  type NewPush,
  settle,
} from '../../pushes/index.ts'
import { type GitDoorName, urlToRepo } from './access.ts'

const mebibyte = 1024 * 1024

export type Push = Transfer & {
  /**
   * Writes what follows from the push. To be awaited when `done` has settled, however it did, since the refs may have
   * moved even if the client has gone; and before the client is told the end, so that whoever waits for git finds it done.
   */
  settled(): Promise<void>
}

/**
 * Receives a push that `gitAccess` let in. Its verdict is given and its intent written down while the objects are in
 * quarantine. `created` tells that the project was made for it.
 */
export async function receivePush(
  ctx: Ctx,
  project: ProjectSubject,
  { door, created = false, ...transfer }: TransferOptions & { door: GitDoorName; created?: boolean },
): Promise<Push> {
  const limit = ctx.settings.receive_max_input_size ?? 0
  let push: (NewPush & { id: number }) | undefined
  /** Whether it is known that everything intended has moved. */
  let allMoved = false
  const repo = await openForWriting(ctx, project)
  const { stream, done } = await receivePack(repo, {
    ...transfer,
    ...(limit > 0 && { maxInputBytes: limit * mebibyte }),
    async onVerdict({ updates, pushOptions, quarantine }) {
      const { refused } = await decide(ctx, project.id, updates, async () => quarantine, { door })
      if (refused !== undefined) return { ok: false, messages: [refused] }
      const intended = {
        projectId: project.id,
        actorId: accountOf(ctx.actor!),
        door,
        options: pushOptions,
        changes: updates.filter(changesRef),
      }
      if (intended.changes.length > 0) push = { id: await intend(ctx, intended), ...intended }
      const warnings = updates
        .filter((update) => !changesRef(update))
        .map(({ name }) => `warning: deleting a non-existent ref: ${name}`)
      return { ok: true, messages: [...warnings, ...(created ? createdMessage(ctx, project, door) : [])] }
    },
    async onMove(updates, isAtomic) {
      const outcomes = await movePushedRefs(repo, updates, isAtomic)
      if (!push) return outcomes
      // Not moved by us: refused, or without an outcome, which git tries now or has refused already.
      const others = push.changes.filter(({ name }) => {
        const outcome = outcomes.get(name)
        return outcome !== 'moved' && !outcome?.mayHaveMoved
      })
      if (others.length > 0) await forgetStale(ctx, repo, push.id, others)
      allMoved = push.changes.every(({ name }) => outcomes.get(name) === 'moved')
      return outcomes
    },
  })
  return {
    stream,
    done,
    async settled() {
      if (push && allMoved) await conclude(ctx, repo, push, project.default_branch)
      else if (push) await settle(ctx, push.id)
    },
  }
}

const createdMessage = (ctx: Ctx, project: ProjectSubject, door: GitDoorName): string[] => [
  '',
  `The private project ${project.full_path} was successfully created.`,
  '',
  'To configure the remote, run:',
  `  git remote add origin ${urlToRepo(ctx.site, door, project.full_path)}`,
  '',
  'To view the project, visit:',
  `  ${ctx.site.url}/${project.full_path}`,
  '',
]
