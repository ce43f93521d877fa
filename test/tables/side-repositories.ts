import type { World } from '../world.ts'
import { ago, Computed, change, find } from './statements.ts'

type Holder = { readonly project_id: number } | { readonly group_id: number } | { readonly snippet_id: number }

type SideColumn =
  | 'id'
  | 'default_branch'
  | 'repository_key'
  | 'repository_storage'
  | 'size'
  | 'pushes'
  | 'incremental_at'

/** The side repository of a holder; an empty list if it has none. */
export const sideRepositoryRows = (world: World, holder: Holder, ...columns: readonly SideColumn[]) =>
  find(world, 'side_repositories', holder, columns.length === 0 ? ['id'] : columns)

/** Whether the row is still there. */
export const hasSideRepository = async (world: World, id: number): Promise<boolean> =>
  (await find(world, 'side_repositories', { id }, ['id'])).length > 0

/** States and transports of the pushes to a side repository, in their order. */
export const pushesToSide = (world: World, side_repository_id: number) =>
  find(world, 'pushes', { side_repository_id }, ['id', 'state', 'transport', 'actor_id'], 'id')

/** Events of changes of a side repository. */
export const changesOfSide = (world: World, id: number) =>
  find(
    world,
    'events',
    { kind: 'side_repository_changed', "(payload->>'side_repository_id')::bigint": id },
    ['project_id', 'group_id', 'actor_id', 'payload'],
    'id',
  )

/** Enough pushes that housekeeping is due. */
export const manySidePushes = (world: World, id: number) =>
  change(world, 'side_repositories', { id }, { pushes: new Computed('pushes + 1000') })

/** The repository was last checked this long ago, such as `31 days`. */
export const ageSideCheck = (world: World, id: number, age: string) =>
  change(world, 'side_repositories', { id }, { checked_at: ago(age) })
