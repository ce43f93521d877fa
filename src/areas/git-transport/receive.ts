import { accountOf } from '../../access/actor.ts'
import type { Ctx } from '../../api/ctx.ts'
import { receivePack, type Transfer, type TransferOptions } from '../../git/transfer.ts'
import type { ProjectSubject } from '../projects/subject.ts'
import { decide } from '../pushes/decide.ts'
import { forgetStale, intend, settle } from '../pushes/journal.ts'
import { openForWriting } from '../repositories/open.ts'
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
  let pushId: number | undefined
  const repo = await openForWriting(ctx, project)
  const { stream, done } = await receivePack(repo, {
    ...transfer,
    ...(limit > 0 && { maxInputBytes: limit * mebibyte }),
    async onVerdict({ updates, pushOptions, quarantine }) {
      const { refused } = await decide(ctx, project.id, updates, async () => quarantine, { door })
      if (refused !== undefined) return { ok: false, messages: [refused] }
      pushId = await intend(ctx, {
        projectId: project.id,
        actorId: accountOf(ctx.actor!),
        door,
        options: pushOptions,
        changes: updates,
      })
      await forgetStale(ctx, repo, pushId, updates)
      return { ok: true, messages: created ? createdMessage(ctx, project, door) : [] }
    },
  })
  return {
    stream,
    done,
    async settled() {
      if (pushId !== undefined) await settle(ctx, pushId)
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
