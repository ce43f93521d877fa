import type { Ctx } from '../../../api/ctx.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { aheadBehind } from '../../../git/history/ancestry.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import { readRef } from '../../../git/refs/refs.ts'
import { openRepository } from '../../projects/index.ts'
import type { MergeRequestRecordRow } from './record-queries.ts'

/** Number of commits of the target branch that the source lacks; 0 if a branch is missing. Walks the history. */
export async function countDiverged(ctx: Ctx, row: MergeRequestRecordRow): Promise<number> {
  const repo = openRepository(ctx, {
    id: row.project_id,
    repository_storage: row.repository_storage,
    repository_key: row.repository_key,
  })
  const ref = branchRef(row.target_branch)
  const tip = ref && (await readRef(repo, ref))
  if (!tip || !row.head_oid || !(await readCommit(repo, row.head_oid))) return 0
  return (await aheadBehind(repo, tip, row.head_oid)).left
}
