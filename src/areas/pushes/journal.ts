import type { Ctx } from '../../api/ctx.ts'
import type { Tx } from '../../db/db.ts'
import { emit } from '../../events/log.ts'
import { setDefaultBranch } from '../../git/head.ts'
import { branchName, branchRef } from '../../git/ref-name.ts'
import { readRefs } from '../../git/refs.ts'
import type { Repository } from '../../git/repository.ts'
import { lockProject } from '../projects/edit-queries.ts'
import type { ProjectRow } from '../projects/queries.ts'
import { countLanguagesLater, refreshLater } from '../projects/refresh-due.ts'
import { rootFilesAt } from '../projects/root-files.ts'
import { protectFirstBranch } from '../protected-refs/default-branch.ts'
import { openRepository } from '../repositories/open.ts'
import type { RefChange } from './change.ts'
import { feedOfPush } from './feed.ts'
import {
  deleteChanges,
  findPush,
  insertPush,
  type NewPush,
  notePush,
  projectOfUnsettled,
  settlePush,
} from './queries.ts'

/*
 * Refs and database are two stores. A change is first written down as intended (committed), then the refs move, then one
 * transaction settles it: what moved is marked, and what follows (events, jobs, activity) is written with it. After a
 * crash in between, settling compares the refs with what was intended. So nothing that moved is without its
 * consequences, and nothing has them twice.
 */

/** Events name at most so many refs; the journal has them all. */
const namedRefs = 100

/** Writes down what is about to move. Returns the id to settle. One statement. */
export const intend = (ctx: Ctx, push: NewPush): Promise<number> => insertPush(ctx.db, push)

/** Ends a push of which it is known that nothing moved. */
export const drop = (ctx: Ctx, pushId: number): Promise<boolean> => ctx.transaction((tx) => settlePush(tx, pushId, []))

/**
 * Crosses out what git is going to refuse because the ref is no longer where the client saw it: somebody else may have
 * made the very same change. Asked after `intend`, so that whoever moves the ref later is known to have come later.
 */
export async function forgetStale(
  ctx: Ctx,
  repo: Repository,
  pushId: number,
  changes: readonly RefChange[],
): Promise<void> {
  const now = await readRefs(
    repo,
    changes.map(({ name }) => name),
  )
  const stale = changes.filter(({ from }, index) => (now[index] ?? null) !== from)
  if (stale.length > 0)
    await deleteChanges(
      ctx.db,
      pushId,
      stale.map(({ name }) => name),
    )
}

/** Compares the refs with what was intended and writes what follows, once. Returns the changes that happened. */
export async function settle(ctx: Ctx, pushId: number): Promise<readonly RefChange[]> {
  const projectId = await projectOfUnsettled(ctx.db, pushId)
  if (projectId === undefined) return []
  return ctx.transaction(async (tx) => {
    // Pushes of a project settle one after the other: each sees what the others have claimed.
    const [project, push] = await Promise.all([lockProject(tx, projectId), findPush(tx, pushId)])
    if (!project || !push) return []
    const repo = openRepository(ctx, project)
    const now = await readRefs(
      repo,
      push.changes.map(({ name }) => name),
    )
    const moved = push.changes.filter(
      ({ to, continued, claimed }, index) => !claimed && (continued || (now[index] ?? null) === to),
    )
    const settled = await settlePush(
      tx,
      pushId,
      moved.map(({ name }) => name),
    )
    if (!settled || moved.length === 0) return []
    await writeConsequences(ctx, tx, repo, project, {
      id: push.id,
      actorId: push.actor_id,
      door: push.door,
      options: push.options,
      changes: moved,
    })
    return moved
  })
}

/** As `settle`, for who has moved all refs of a push himself and need not look. Two round trips and the commit. */
export const conclude = (ctx: Ctx, repo: Repository, push: NewPush & { id: number }): Promise<void> =>
  ctx.transaction(async (tx) => {
    const [project, settled] = await Promise.all([
      lockProject(tx, push.projectId),
      settlePush(
        tx,
        push.id,
        push.changes.map(({ name }) => name),
      ),
    ])
    if (project && settled) await writeConsequences(ctx, tx, repo, project, push)
  })

/** What follows from refs that have moved: all of it goes to the database at once. */
async function writeConsequences(
  ctx: Ctx,
  tx: Tx,
  repo: Repository,
  project: ProjectRow,
  { id, actorId, door, options, changes }: Omit<NewPush, 'projectId'> & { id: number },
): Promise<void> {
  const first = project.default_branch === null ? firstBranch(changes) : undefined
  if (first !== undefined) {
    await setDefaultBranch(repo, first)
    await protectFirstBranch(tx, project.id, first, ctx.settings.default_branch_protection)
  }
  const main = project.default_branch ?? first ?? null
  const tip = changes.find(({ name }) => branchName(name) === main)?.to ?? undefined
  const feed = await feedOfPush(ctx, repo, main, changes)
  const rootFiles = tip && (await rootFilesAt(repo, tip))
  await Promise.all([
    notePush(tx, project.id, { firstBranch: first, rootFiles }),
    emit(tx, {
      kind: 'pushed',
      projectId: project.id,
      actorId,
      payload: {
        push_id: id,
        door,
        options,
        ref_count: changes.length,
        refs: changes.slice(0, namedRefs).map(({ name, from, to }) => ({ name, from, to })),
      },
      feed,
    }),
    refreshLater(tx, project.id),
    tip && countLanguagesLater(tx, project.id),
  ])
}

const preferred = ['master', 'main']

/** The branch that an empty repository begins with. What came past the rules on names is none. */
function firstBranch(moved: readonly RefChange[]): string | undefined {
  const branches = moved
    .filter(({ to }) => to !== null)
    .flatMap(({ name }) => branchName(name) ?? [])
    .filter((name) => branchRef(name))
  return preferred.find((name) => branches.includes(name)) ?? branches[0]
}
