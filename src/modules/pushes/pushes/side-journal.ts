import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { MainChange } from '../../../events/catalogue.ts'
import { emit } from '../../../events/log.ts'
import { emptyTreeOid } from '../../../git/format/oid.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import { branchName } from '../../../git/format/ref-name.ts'
import { changedFiles } from '../../../git/history/changes.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import { setDefaultBranch } from '../../../git/refs/head.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { damageIn } from '../../../git/runner/damage.ts'
import { HelperDeath } from '../../../git/runner/helper.ts'
import { Failure } from '../../../kernel/failure.ts'
import { openSideRepository } from '../side-repositories/open.ts'
import { lockSideRepository, recordSidePush, type SideRepository } from '../side-repositories/queries.ts'
import { firstBranch } from './first-branch.ts'
import type { LockedTarget, SettledPush } from './target.ts'

/** Locks a side repository to settle a push to it. Undefined if its holder is being deleted. */
export async function lockSideTarget(ctx: Ctx, tx: Tx, id: number): Promise<LockedTarget | undefined> {
  const row = await lockSideRepository(tx, id)
  if (!row) return undefined
  const repo = openSideRepository(ctx, row)
  return { repo, writeEffects: (push) => writeEffects(ctx, tx, repo, row, push) }
}

async function writeEffects(
  ctx: Ctx,
  tx: Tx,
  repo: Repository,
  row: SideRepository,
  { id, actorId, changes }: SettledPush,
): Promise<void> {
  const first = row.default_branch === null ? firstBranch(changes) : undefined
  if (first !== undefined) await setDefaultBranch(repo, first)
  const main = await mainChangeOf(ctx, repo, row.default_branch ?? first ?? null, changes)
  await recordSidePush(tx, row.id, first)
  await emit(tx, {
    kind: 'side_repository_changed',
    ...(row.project_id !== null && { projectId: row.project_id }),
    ...(row.group_id !== null && { groupId: row.group_id }),
    actorId,
    payload: { side_repository_id: row.id, push_id: id, ref_count: changes.length },
    facts: { holder_kind: row.kind, holder_id: (row.project_id ?? row.group_id ?? row.snippet_id)!, main },
  })
}

/** How the changes moved the default branch, and the files in which its old and new commit differ. */
async function mainChangeOf(
  ctx: Ctx,
  repo: Repository,
  main: string | null,
  changes: readonly RefChange[],
): Promise<MainChange | null> {
  const change = changes.find(({ name }) => branchName(name) === main)
  if (!change || change.to === null) return null
  const [before, after] = await Promise.all([
    change.from === null ? undefined : readCommit(repo, change.from),
    readCommit(repo, change.to),
  ])
  if (!after) return null
  const { files, truncated } = await changedFiles(repo, before?.tree ?? emptyTreeOid, after.tree).catch((err) => {
    // The push stays unsettled, and recovery compares again.
    if (isTransient(err)) throw err
    // Without the files, what follows is incomplete; without settling, it would never follow.
    ctx.log.error({ err, git_dir: repo.gitDir }, 'failed to compare the commits of a push')
    return { files: [], truncated: true }
  })
  return { from: change.from, to: change.to, message: after.message, files, truncated }
}

/** Whether git could not run, such as after the end of the runner; not if it took too long, or the repository is damaged. */
const isTransient = (error: unknown): boolean =>
  error instanceof Failure &&
  error.kind === 'unavailable' &&
  damageIn(error) === undefined &&
  !(error.cause instanceof HelperDeath && error.cause.exit.timedOut)
