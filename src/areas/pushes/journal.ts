import type { Ctx } from '../../api/ctx.ts'
import { emit } from '../../events/log.ts'
import { setDefaultBranch } from '../../git/head.ts'
import { branchName, branchRef } from '../../git/ref-name.ts'
import { readRefs } from '../../git/refs.ts'
import type { Repository } from '../../git/repository.ts'
import { enqueue } from '../../jobs/job.ts'
import { refreshLanguages } from '../languages/jobs.ts'
import { lockProject } from '../projects/edit-queries.ts'
import { protectFirstBranch } from '../protected-refs/default-branch.ts'
import { openRepository } from '../repositories/open.ts'
import type { RefChange } from './change.ts'
import { feedOfPush } from './feed.ts'
import { refreshRepository } from './jobs.ts'
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

/** Pushes that follow one another share one refresh, and are not slowed down by it. */
const refreshAfterMs = 1000
/** Nobody waits for the languages, and they read a whole tree. */
const languagesAfterMs = 3000

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
    const project = await lockProject(tx, projectId)
    const push = await findPush(tx, pushId)
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
    const first = project.default_branch === null ? firstBranch(moved) : undefined
    if (first !== undefined) {
      await setDefaultBranch(repo, first)
      await protectFirstBranch(tx, project.id, first, ctx.settings.default_branch_protection)
    }
    await notePush(tx, project.id, first)
    await emit(tx, {
      kind: 'pushed',
      projectId: project.id,
      actorId: push.actor_id,
      payload: {
        push_id: push.id,
        door: push.door,
        options: push.options,
        ref_count: moved.length,
        refs: moved.slice(0, namedRefs).map(({ name, from, to }) => ({ name, from, to })),
      },
      feed: await feedOfPush(ctx, repo, first ?? project.default_branch, moved),
    })
    await enqueue(tx, refreshRepository, { projectId: project.id }, refreshAfterMs)
    const main = project.default_branch ?? first
    if (moved.some(({ name, to }) => to !== null && branchName(name) === main))
      await enqueue(tx, refreshLanguages, { projectId: project.id }, languagesAfterMs)
    return moved
  })
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
