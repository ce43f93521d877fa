import type { Ctx } from '../../api/ctx.ts'
import { fetchCommit } from '../../git/fetch.ts'
import type { Oid } from '../../git/oid.ts'
import { branchRef } from '../../git/ref-name.ts'
import { readRef } from '../../git/refs.ts'
import type { Repository } from '../../git/repository.ts'
import { openRepository } from '../repositories/open.ts'
import type { MergingRow } from './queries.ts'

/** Where the branches of a merge request are now; `undefined` for one that is missing. */
export type Heads = { readonly source: Oid | undefined; readonly target: Oid | undefined }

export const readBranch = async (repo: Repository, name: string): Promise<Oid | undefined> => {
  const ref = branchRef(name)
  return ref && readRef(repo, ref)
}

/** The repository into which it is to be merged. */
export const targetRepository = (ctx: Ctx, row: Pick<MergingRow, 'target'>): Repository =>
  openRepository(ctx, row.target)

/** Reads files of refs: no process. */
export async function readHeads(ctx: Ctx, row: MergingRow): Promise<Heads> {
  const [source, target] = await Promise.all([
    row.source ? readBranch(openRepository(ctx, row.source), row.source_branch) : undefined,
    readBranch(targetRepository(ctx, row), row.target_branch),
  ])
  return { source, target }
}

/** Brings the head of a fork's branch to where it is to be merged. Nothing when it is there. */
export async function bringHead(ctx: Ctx, row: MergingRow, head: Oid): Promise<void> {
  if (row.source && row.source.id !== row.target.id)
    await fetchCommit(targetRepository(ctx, row), openRepository(ctx, row.source), head)
}
