import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { readRef } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { fetchCommit } from '../../../git/transfer/fetch.ts'
import { openRepository } from '../../projects/index.ts'
import { authorReadsSource } from '../merge-requests/source-access.ts'
import type { MergingRow } from './queries.ts'

/** Where the branches of a merge request are now; `undefined` for one that is missing. */
export type Heads = {
  readonly source: Oid | undefined
  readonly target: Oid | undefined
  /** The source has something new, which is left out because the author may not read that project now. */
  readonly isWithheld?: true
}

export const readBranch = async (repo: Repository, name: string): Promise<Oid | undefined> => {
  const ref = branchRef(name)
  return ref && readRef(repo, ref)
}

/** The repository into which it is to be merged. */
export const targetRepository = (ctx: Ctx, row: Pick<MergingRow, 'target'>): Repository =>
  openRepository(ctx, row.target)

/**
 * Reads files of refs: no process. A new head in another project counts only while the author may read the code there, which takes
 * two statements; the head that the target has already takes none.
 */
export async function readHeads(ctx: Ctx, row: MergingRow): Promise<Heads> {
  const heads = await readBranches(ctx, row)
  const isNew = heads.source !== undefined && heads.source !== row.head_oid && row.source_project_id !== row.project_id
  return isNew && !(await authorReadsSource(ctx, row)) ? { ...heads, source: undefined, isWithheld: true } : heads
}

/** Whether the branches are still where they were. No statement, so that it can be asked within a transaction. */
export async function areStill(ctx: Ctx, row: MergingRow, heads: Heads): Promise<boolean> {
  const { source, target } = await readBranches(ctx, row)
  return target === heads.target && (heads.isWithheld || source === heads.source)
}

async function readBranches(ctx: Ctx, row: MergingRow): Promise<Heads> {
  const [source, target] = await Promise.all([
    row.source ? readBranch(openRepository(ctx, row.source), row.source_branch) : undefined,
    readBranch(targetRepository(ctx, row), row.target_branch),
  ])
  return { source, target }
}

/** Brings a head that `readHeads` found from a fork to the target. Does nothing when it is there. */
export async function bringHead(ctx: Ctx, row: MergingRow, head: Oid): Promise<void> {
  if (row.source && row.source.id !== row.target.id)
    await fetchCommit(targetRepository(ctx, row), openRepository(ctx, row.source), head)
}
