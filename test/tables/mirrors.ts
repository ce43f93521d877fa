import type { World } from '../world.ts'
import { ago, change, find, now } from './statements.ts'

type MirrorTable = 'pull_mirrors' | 'push_mirrors'

export const pullMirrorOf = (world: World, project_id: number) => find(world, 'pull_mirrors', { project_id })

/** All mirrors of a kind, with every column. */
export const mirrorRows = (world: World, table: MirrorTable) => find(world, table, {})

/** Minutes between the last update of a mirror and the next one, as `minutes`. */
export const pauseOf = (
  world: World,
  mirror: { readonly pullOf: number } | { readonly push: number },
): Promise<any[]> => {
  const [table, condition] =
    'push' in mirror ? ['push_mirrors', { id: mirror.push }] : ['pull_mirrors', { project_id: mirror.pullOf }]
  return find(world, table as MirrorTable, condition as Readonly<Record<string, number>>, [
    'round(extract(epoch from next_at - last_update_at) / 60)::integer as minutes',
  ])
}

/** The next update of all pull mirrors was due an hour ago, and none is queued. */
export const makePullMirrorsDue = (world: World) =>
  change(world, 'pull_mirrors', {}, { queued_at: null, next_at: ago('1 hour') })

export const makePushMirrorsDue = (world: World, id: readonly number[]) =>
  change(world, 'push_mirrors', { id }, { next_at: now })
