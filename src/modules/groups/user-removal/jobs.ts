import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { inBatches } from '../../../db/batches.ts'
import { violatedUnique } from '../../../db/violations.ts'
import type { NewEvent } from '../../../events/catalogue.ts'
import { emitAll } from '../../../events/log.ts'
import { deleteEventsAbout, forgetActor } from '../../../events/retention.ts'
import { job, retryFailed } from '../../../jobs/job.ts'
import { deleteAccount } from '../../accounts/index.ts'
import { deleteStarsOf } from '../../projects/index.ts'
import { removeContents } from '../groups/jobs.ts'
import { deleteGroupRows } from '../groups/removal-queries.ts'
import { type Contribution, contributions, type DeletedRows } from './contributions.ts'
import { ensurePlaceholder } from './placeholder.ts'
import { deleteByAddress, deleteSomeOf, dropSome, lockAccount, personalNamespace, settleSome } from './queries.ts'

/** What is deleted with the account, and may be very many rows of one user. */
const belongings = [
  { table: 'todos', column: 'user_id' },
  { table: 'mentions', column: 'user_id' },
]

async function settleContributions(ctx: Ctx, userId: number, hard: boolean): Promise<void> {
  const placeholder = hard ? undefined : await ctx.transaction(ensurePlaceholder)
  for (const contribution of contributions) {
    // Deleting the account would do this, too, but to all rows in one statement.
    if ((hard ? contribution.hard : contribution.soft) === 'anonymized') {
      await inBatches((size) => settleSome(ctx.db, contribution, userId, 'anonymize', size))
      continue
    }
    const to = placeholder === undefined ? 'delete' : { placeholder }
    const { once, deleted } = contribution
    if (once && placeholder !== undefined) await giveOnce(ctx, contribution, once, userId, placeholder)
    else
      await inBatches((size) =>
        to === 'delete' && deleted
          ? deleteWithEvents(ctx, contribution, deleted, userId, size)
          : settleSome(ctx.db, contribution, userId, to, size),
      )
  }
}

/** After each, one row more is dropped: more errors have another cause. */
const mostAttempts = 100

/** Gives the placeholder account the rows of the user that it does not have, and drops the others. */
async function giveOnce(
  ctx: Ctx,
  contribution: Contribution,
  once: readonly string[],
  userId: number,
  placeholder: number,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await inBatches((size) => dropSome(ctx.db, contribution, once, userId, placeholder, size))
    try {
      await inBatches((size) => settleSome(ctx.db, contribution, userId, { placeholder }, size))
      return
    } catch (error) {
      // The removal of another user has just given it the same, which is dropped now.
      if (violatedUnique(error) === undefined || attempt === mostAttempts) throw error
    }
  }
}

/** As `settleSome`, with an event of each deleted row. */
const deleteWithEvents = (
  ctx: Ctx,
  contribution: Contribution,
  deleted: DeletedRows,
  userId: number,
  size: number,
): Promise<number> =>
  ctx.transaction(async (tx) => {
    const rows = await deleteSomeOf(tx, contribution, deleted, userId, size)
    const events = rows
      .filter(({ has_event }) => has_event)
      .map(({ project_id, group_id, payload }) => ({
        kind: deleted.kind,
        ...(project_id === null ? { groupId: group_id! } : { projectId: project_id }),
        actorId: null,
        payload,
      }))
    await emitAll(tx, events as NewEvent<DeletedRows['kind']>[])
    // Fewer may be deleted although more are left: others may have deleted some meanwhile.
    return rows.length > 0 ? size : 0
  })

/**
 * Deletes the data of a deleted user: personal projects, then contributions, then the account with everything that
 * references it.
 */
export const removeUser = job({
  name: 'remove_user',
  input: Type.Object({ userId: Type.Integer(), hard: Type.Boolean() }),
  key: ({ userId }) => `remove_user:${userId}`,
  attempts: 10,
  async run({ userId, hard }, ctx) {
    const space = await personalNamespace(ctx.db, userId)
    if (space) await removeContents(ctx, space.id)
    await settleContributions(ctx, userId, hard)
    for (const column of belongings) await inBatches((size) => settleSome(ctx.db, column, userId, 'delete', size))
    await inBatches((size) => deleteEventsAbout(ctx.db, userId, size))
    await inBatches((size) => forgetActor(ctx.db, userId, size))
    await ctx.transaction(async (tx) => {
      if (!(await lockAccount(tx, userId))) return
      await tx.allowLongStatements()
      // Until now it says that the account is being removed.
      if (space) await deleteGroupRows(tx, space.id)
      await deleteStarsOf(tx, userId)
      const withdrawn = await deleteByAddress(tx, userId)
      await emitAll(
        tx,
        withdrawn.map(({ project_id, namespace_id, email }) => ({
          kind: 'invitation_withdrawn',
          ...(project_id === null ? { groupId: namespace_id! } : { projectId: project_id }),
          actorId: null,
          payload: {},
          facts: { email },
        })),
      )
      await deleteAccount(tx, userId)
    })
  },
})

/** Restarts deletions whose job failed on every attempt: data of a deleted user must not stay. */
export const resumeUserRemovals = job({
  name: 'resume_user_removals',
  input: Type.Object({}),
  key: () => 'resume_user_removals',
  attempts: 3,
  every: { cron: '40 3 * * *', input: {} },
  run: async (_input, ctx) => void (await ctx.transaction((tx) => retryFailed(tx, removeUser))),
})
