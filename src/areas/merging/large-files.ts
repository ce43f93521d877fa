import type { Ctx } from '../../api/ctx.ts'
import type { Oid } from '../../git/oid.ts'
import { newPointers } from '../../git/pointers.ts'
import { linkFrom } from '../large-files/queries.ts'
import { targetRepository } from './heads.ts'
import type { MergingRow } from './queries.ts'

/** Gives the target what a fork has of the large files that its commits point to. One process for a fork, none otherwise. */
export async function bringLargeFiles(
  ctx: Ctx,
  row: MergingRow,
  { source, target }: { source: Oid; target: Oid },
): Promise<void> {
  const from = row.source
  if (!from || from.id === row.target.id || !ctx.settings.lfs_enabled) return
  for await (const pointers of newPointers(targetRepository(ctx, row), [source], [target])) {
    const oids = pointers.map(({ oid }) => oid)
    if (oids.length > 0) await ctx.transaction((tx) => linkFrom(tx, from.id, row.target.id, oids))
  }
}
