import { contextFor } from '../../../../test/contexts.ts'
import type { World } from '../../../../test/world.ts'
import { projectRepositoryDir } from '../../projects/repositories/location.ts'
import { commitToSideRepository } from '../side-commits/commit.ts'
import { createSideRepository, type SideHolder } from './queries.ts'

/** A side repository with one commit. */
export async function written(world: World, holder: SideHolder) {
  const ctx = await contextFor(world, world.root)
  const row = await ctx.transaction((tx) => createSideRepository(tx, holder))
  await commitToSideRepository(ctx, row, { message: 'First', edits: [{ path: 'a.md', content: 'a' }] })
  const dir = projectRepositoryDir(ctx, row)
  return { ctx, row, dir }
}
