import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { isReferenceGone } from '../../../db/violations.ts'
import type { FeedEntry } from '../../../events/catalogue.ts'
import { emit } from '../../../events/log.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import { branchName, type RefName } from '../../../git/format/ref-name.ts'
import { setDefaultBranch } from '../../../git/refs/head.ts'
import { readRefs } from '../../../git/refs/refs.ts'
import { syncRefs } from '../../../git/refs/update-refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { invalidFields } from '../../../kernel/failure.ts'
import {
  lockProject,
  noRootFiles,
  openRepository,
  type ProjectRow,
  type RootFiles,
  recordPush,
  rootFilesAt,
} from '../../projects/index.ts'
import { protectFirstBranch } from '../protected-refs/default-branch.ts'
import { parsePushOptions } from '../push-options/parse.ts'
import { refusedPush } from './decide.ts'
import { feedOfPush } from './feed.ts'
import { firstBranch } from './first-branch.ts'
import { ifReadable } from './if-readable.ts'
import {
  defaultBranchOf,
  deleteChanges,
  findPush,
  insertPush,
  insertPushAtOnce,
  isBeingDeleted,
  isOfProject,
  type NewPush,
  type ProjectPush,
  type PushTarget,
  settlePush,
  targetOfUnsettled,
} from './queries.ts'
import { refViolation } from './ref-rules.ts'
import { lockSideTarget } from './side-journal.ts'
import type { LockedTarget, SettledPush } from './target.ts'

/**
 * Refs and database are two stores. A push first commits a record of its intent, then moves the refs; then one
 * transaction settles it: it marks the refs that moved and writes the effects (events, jobs, activity). After a crash
 * in between, settling compares the refs with the intent. So every move has its effects, and has them once.
 */

/** The reason for refusing a push that has arisen since the decision. */
export class LateRefusal extends Error {
  override name = 'LateRefusal'
}

/**
 * Records the intended changes. Returns the id to settle. One statement, and another if branches are deleted: a request that makes one of
 * them the default branch sees the intent (`requireBranchStays`), or was first and is seen here. Throws `LateRefusal`, also if the target or the
 * account has been deleted. Waits for a transaction that holds the target, such as a transfer of the project, and asks `requireStill` afterwards, which
 * may refuse the push: that transaction, or another meanwhile, may have taken the right.
 */
export async function recordIntent(ctx: Ctx, push: NewPush, requireStill: () => Promise<void>): Promise<number> {
  await ctx.outside?.begin()
  const id =
    (await insertPushAtOnce(ctx.db, push).catch(refuseIfGone)) ?? (await recordAfterWait(ctx, push, requireStill))
  const deletesBranches = push.changes.some(({ name, to }) => to === null && branchName(name) !== undefined)
  if (!deletesBranches || !isOfProject(push)) return id
  const refused = refViolation(push.changes, await defaultBranchOf(ctx.db, push.projectId))
  if (refused === undefined) return id
  await discardPush(ctx, id)
  throw new LateRefusal(refused)
}

async function recordAfterWait(ctx: Ctx, push: NewPush, requireStill: () => Promise<void>): Promise<number> {
  const id = await insertPush(ctx.db, push).catch(refuseIfGone)
  await requireStill().catch(async (error) => {
    await discardPush(ctx, id)
    throw error
  })
  return id
}

function refuseIfGone(error: unknown): never {
  throw isReferenceGone(error) ? new LateRefusal(refusedPush) : error
}

/** Throws `invalid` if a push is about to delete the branch. The project is locked. */
export async function requireBranchStays(tx: Tx, projectId: number, branch: string): Promise<void> {
  if (await isBeingDeleted(tx, projectId, `refs/heads/${branch}`))
    throw invalidFields({ base: [`Could not change HEAD: branch '${branch}' is being deleted`] })
}

/** Ends a push in which certainly nothing moved. */
export const discardPush = (ctx: Ctx, pushId: number): Promise<boolean> =>
  ctx.transaction((tx) => settlePush(tx, pushId, []))

/** Removes changes from a pending push that certainly did not happen. */
export const discardChanges = (ctx: Ctx, pushId: number, changes: readonly RefChange[]): Promise<number> =>
  deleteChanges(
    ctx.db,
    pushId,
    changes.map(({ name }) => name),
  )

/**
 * Compares the refs with the intent and writes the effects once. Changes of refs in `known` happened, whatever the refs
 * are now. Returns the changes that happened.
 */
export async function settle(
  ctx: Ctx,
  pushId: number,
  known: ReadonlySet<RefName> = new Set(),
): Promise<readonly RefChange[]> {
  const target = await targetOfUnsettled(ctx.db, pushId)
  if (!target) return []
  return ctx.transaction(async (tx) => {
    // Pushes to a repository settle one after the other, so that each sees the changes that others have claimed.
    const [locked, push] = await Promise.all([lockTarget(ctx, tx, target), findPush(tx, pushId, target)])
    if (!locked || !push) return []
    const { repo } = locked
    const asked = push.changes.map(({ name }) => name).filter((name) => !known.has(name))
    const read = await readRefs(repo, asked)
    const now = new Map(asked.map((name, index) => [name, read[index] ?? null]))
    const moved = push.changes.filter(
      ({ name, to, continued, claimed }) => known.has(name) || (!claimed && (continued || now.get(name) === to)),
    )
    // Refs that moved before a crash may not be synced to disk yet.
    await syncRefs(repo, moved)
    const settled = await settlePush(
      tx,
      pushId,
      moved.map(({ name }) => name),
    )
    if (!settled || moved.length === 0) return []
    await locked.writeEffects({ id: push.id, actorId: push.actor_id, options: push.options, changes: moved })
    return moved
  })
}

const lockTarget = (ctx: Ctx, tx: Tx, target: PushTarget): Promise<LockedTarget | undefined> =>
  isOfProject(target) ? lockProjectTarget(ctx, tx, target.projectId) : lockSideTarget(ctx, tx, target.sideRepositoryId)

async function lockProjectTarget(ctx: Ctx, tx: Tx, projectId: number): Promise<LockedTarget | undefined> {
  const project = await lockProject(tx, projectId)
  if (!project) return undefined
  const repo = openRepository(ctx, project)
  return { repo, writeEffects: (push) => settleEffects(ctx, tx, repo, project, push) }
}

/** The default branch differs from the caller's, or another process settled the push. */
const staleAssumption = new Error('the push was settled or the default branch changed meanwhile')

/**
 * As `settle`, if all changes of the push to a project certainly happened. Assumes the default branch that the caller read. One
 * round trip and the commit.
 */
export async function completePush(
  ctx: Ctx,
  repo: Repository,
  push: ProjectPush & { id: number },
  main: string | null,
): Promise<readonly RefChange[]> {
  const { id, projectId, changes } = push
  const known = new Set(changes.map(({ name }) => name))
  if (main === null) return settle(ctx, id, known)
  const effects = await buildEffects(ctx, repo, changes, main)
  try {
    await ctx.transaction(async (tx) => {
      const names = [...known]
      // The first statement locks the project, as `settle` locks it first.
      const [branch, settled] = await Promise.all([
        writeEffects(tx, projectId, push, effects),
        settlePush(tx, id, names),
      ])
      if (!settled || branch !== main) throw staleAssumption
    })
    return changes
  } catch {
    // The transaction was rolled back; `settle` reads everything again.
    return settle(ctx, id, known)
  }
}

/** Writes the effects of moved refs. */
async function settleEffects(
  ctx: Ctx,
  tx: Tx,
  repo: Repository,
  project: ProjectRow,
  push: SettledPush,
): Promise<void> {
  const first = project.default_branch === null ? firstBranch(push.changes) : undefined
  if (first !== undefined) {
    await setDefaultBranch(repo, first)
    await protectFirstBranch(tx, project.id, first, ctx.settings.default_branch_protection)
  }
  const effects = await buildEffects(ctx, repo, push.changes, project.default_branch ?? first ?? null)
  await writeEffects(tx, project.id, push, { ...effects, first })
}

/** Feed entries of a push, and the root files of the default branch if it moved. */
type Effects = {
  readonly feed: readonly FeedEntry[]
  readonly rootFiles: RootFiles | undefined
  readonly first?: string | undefined
}

async function buildEffects(
  ctx: Ctx,
  repo: Repository,
  changes: readonly RefChange[],
  main: string | null,
): Promise<Effects> {
  const tip = changes.find(({ name }) => branchName(name) === main)?.to ?? undefined
  const rootFiles = tip && (await ifReadable(ctx, rootFilesAt(repo, tip), noRootFiles))
  return { feed: await feedOfPush(ctx, repo, main, changes), rootFiles }
}

/** Sends all statements at once. Resolves with the default branch. */
async function writeEffects(
  tx: Tx,
  projectId: number,
  { id, actorId, options, changes }: SettledPush,
  { feed, rootFiles, first }: Effects,
): Promise<string | null | undefined> {
  const [branch] = await Promise.all([
    recordPush(tx, projectId, { firstBranch: first, rootFiles, refCount: changes.length }),
    emit(tx, {
      kind: 'pushed',
      projectId,
      actorId,
      payload: { push_id: id, ref_count: changes.length, default_branch_moved: rootFiles !== undefined },
      facts: { push_options: parsePushOptions(options).options },
      lines: feed,
    }),
  ])
  return branch
}
