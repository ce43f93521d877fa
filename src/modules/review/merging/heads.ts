import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { readRef } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { fetchCommit } from '../../../git/transfer/fetch.ts'
import { Failure } from '../../../kernel/failure.ts'
import { openRepository } from '../../projects/index.ts'
import { authorReadsSource } from '../merge-requests/source-access.ts'
import { headRef } from '../merge-requests/versions.ts'
import type { MergingRow } from './queries.ts'

/** Current heads of the branches of a merge request; `undefined` for a missing branch. */
export type Heads = {
  readonly source: Oid | undefined
  readonly target: Oid | undefined
  /** The source has a new head, which is ignored because the author cannot currently read that project. */
  readonly isWithheld?: true
}

export const readBranch = async (repo: Repository, name: string): Promise<Oid | undefined> => {
  const ref = branchRef(name)
  return ref && readRef(repo, ref)
}

/** The target repository. */
export const targetRepository = (ctx: Ctx, row: Pick<MergingRow, 'target'>): Repository =>
  openRepository(ctx, row.target)

/**
 * The current heads, from the files of the refs: no process. Throws `unavailable` if a repository is missing. A new head in another
 * project counts only while the author can read its code. That takes two statements; a head that the target has takes none.
 */
export async function readHeads(ctx: Ctx, row: MergingRow): Promise<Heads> {
  const heads = await readBranches(ctx, row)
  const isNew = heads.source !== undefined && heads.source !== row.head_oid && row.source_project_id !== row.project_id
  return isNew && !(await authorReadsSource(ctx, row)) ? { ...heads, source: undefined, isWithheld: true } : heads
}

/** Whether the branches have not moved. No statement, so it can be called within a transaction. */
export async function areStill(ctx: Ctx, row: MergingRow, heads: Heads): Promise<boolean> {
  const { source, target } = await readBranches(ctx, row)
  return target === heads.target && (heads.isWithheld || source === heads.source)
}

async function readBranches(ctx: Ctx, row: MergingRow): Promise<Heads> {
  const [source, target] = await Promise.all([
    row.source ? readBranch(openRepository(ctx, row.source), row.source_branch) : undefined,
    readBranch(targetRepository(ctx, row), row.target_branch),
  ])
  // A missing branch is only believed if the repository is there: it was when the merge request got commits.
  if (row.head_oid !== null) {
    if (!target) await requireRepository(targetRepository(ctx, row))
    if (!source && row.source) await requireRepository(openRepository(ctx, row.source))
  }
  return { source, target }
}

async function requireRepository(repo: Repository): Promise<void> {
  repo.lookAgain()
  if (!(await repo.exists())) throw new Failure('unavailable', 'A repository of the merge request is missing')
}

/** Fetches a head that `readHeads` found from a fork to the target. No process if it is the head that the merge request has there already. */
export async function bringHead(ctx: Ctx, row: MergingRow, head: Oid): Promise<void> {
  if (!row.source || row.source.id === row.target.id) return
  const target = targetRepository(ctx, row)
  if ((await readRef(target, headRef(row.iid))) === head) return
  await fetchCommit(target, openRepository(ctx, row.source), head)
}
