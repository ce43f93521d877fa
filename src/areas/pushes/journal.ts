import type { Ctx } from '../../api/ctx.ts'
import { emit } from '../../events/log.ts'
import { setDefaultBranch } from '../../git/head.ts'
import { branchName } from '../../git/ref-name.ts'
import { readRefs } from '../../git/refs.ts'
import { enqueue } from '../../jobs/job.ts'
import { lockProject } from '../projects/queries.ts'
import { protectFirstBranch } from '../protected-refs/default-branch.ts'
import { openRepository } from '../repositories/open.ts'
import type { RefChange } from './change.ts'
import { refreshRepository } from './jobs.ts'
import { findPush, insertPush, type NewPush, noteActivity, settlePush } from './queries.ts'

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

/**
 * Compares the refs with what was intended and writes what follows, once. Returns the changes that happened. `isStale`
 * is for who knows that nothing moved: another may have moved the refs to the same place.
 */
export async function settle(
  ctx: Ctx,
  pushId: number,
  { isStale = false }: { isStale?: boolean } = {},
): Promise<readonly RefChange[]> {
  const push = await findPush(ctx.db, pushId)
  if (!push || push.state === 'done') return []
  return ctx.transaction(async (tx) => {
    // Also keeps two pushes from each becoming the first.
    const project = await lockProject(tx, push.project_id)
    if (!project) return []
    const repo = openRepository(ctx, project)
    const now = await readRefs(
      repo,
      push.changes.map(({ name }) => name),
    )
    const moved = isStale
      ? []
      : push.changes.filter(({ to, continued }, index) => continued || (now[index] ?? null) === to)
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
    await noteActivity(tx, project.id, first)
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
    })
    await enqueue(tx, refreshRepository, { projectId: project.id })
    return moved
  })
}

const preferred = ['master', 'main']

/** The branch that an empty repository begins with. */
function firstBranch(moved: readonly RefChange[]): string | undefined {
  const branches = moved.filter(({ to }) => to !== null).flatMap(({ name }) => branchName(name) ?? [])
  return preferred.find((name) => branches.includes(name)) ?? branches[0]
}
