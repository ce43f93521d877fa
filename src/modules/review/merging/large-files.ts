import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { newPointers } from '../../../git/objects/pointers.ts'
import { filesAmong, linkFrom } from '../../pushes/index.ts'
import { authorReadsSource } from '../merge-requests/source-access.ts'
import { targetRepository } from './heads.ts'
import { notMergeable } from './mergeable.ts'
import type { MergingRow } from './queries.ts'

/**
 * Gives the target the large files of a fork to which its commits point. Fails if some are missing and the author cannot currently
 * read the fork. One process for a fork, none otherwise.
 */
export async function bringLargeFiles(
  ctx: Ctx,
  row: MergingRow,
  { source, target }: { source: Oid; target: Oid },
): Promise<void> {
  const from = row.source
  if (!from || from.id === row.target.id || !ctx.settings.lfs_enabled) return
  let isAllowed: boolean | undefined
  for await (const pointers of newPointers(targetRepository(ctx, row), [source], { excluding: [target] })) {
    const oids = pointers.map(({ oid }) => oid)
    if (oids.length === 0) continue
    isAllowed ??= await authorReadsSource(ctx, row)
    if (isAllowed) await ctx.transaction((tx) => linkFrom(tx, from.id, row.target.id, oids))
    else if (await lacksAny(ctx, row.target.id, oids)) throw notMergeable()
  }
}

const lacksAny = async (ctx: Ctx, projectId: number, oids: readonly string[]): Promise<boolean> =>
  (await filesAmong(ctx.db, [projectId], oids)).length < new Set(oids).size
