import type { Ctx } from '../../../api/ctx.ts'
import { emptyTreeOid } from '../../../git/format/oid.ts'
import { type Commit, readCommit } from '../../../git/objects/commits.ts'
import { parseSignature } from '../../../git/objects/signature.ts'
import { openRepository } from '../../projects/index.ts'
import type { CommitRow } from '../../repository/index.ts'
import { findTodoCommits, type TodoCommitRow } from './queries.ts'

/** What is known of a commit that its repository has lost: a user can see its todo and mark it as done. */
const lost = ({ oid, title }: TodoCommitRow): Commit => ({
  oid,
  tree: emptyTreeOid,
  parents: [],
  author: parseSignature(''),
  committer: parseSignature(''),
  message: title,
  signature: undefined,
})

/** The commits with rows of these ids. One statement, and one read of git for each commit that is not cached. */
export async function commitTargets(
  ctx: Ctx,
  ids: readonly number[],
): Promise<(CommitRow & { readonly id: number })[]> {
  const rows = await findTodoCommits(ctx.db, ids)
  return Promise.all(
    rows.map(async (row) => {
      const found = await readCommit(openRepository(ctx, row), row.oid).catch(() => {
        ctx.signal?.throwIfAborted()
        return undefined
      })
      return { id: row.commit_id, commit: found ?? lost(row), project: { id: row.id, full_path: row.full_path } }
    }),
  )
}
