import type { World } from '../world.ts'
import { change, find, type Value } from './statements.ts'

/** Changes one group or several. */
export const changeGroup = (
  world: World,
  id: number | readonly number[],
  values: { readonly [column in 'deleting' | 'marked_for_deletion_on' | 'membership_lock' | 'name']?: Value },
) => change(world, 'namespaces', { id }, values)

/** Ids of those of the groups that exist. */
export const existingGroups = (world: World, id: number | readonly number[]) =>
  find(world, 'namespaces', { id }, ['id'])

/** What the plan of the installation sets in a new group. */
export const planOfGroup = (world: World, id: number) =>
  find(world, 'namespaces', { id }, [
    'shared_runners_minutes_limit as minutes',
    'membership_lock',
    'file_template_project_id as template',
  ])

/** The next namespace has this id. */
export const startNamespaceIdsAt = (world: World, id: number) =>
  world.rows(`select setval(pg_get_serial_sequence('namespaces', 'id'), $1, false)`, [id])

export const variablesOf = (world: World, column: 'project_id' | 'namespace_id', id: number) =>
  find(world, 'variables', { [column]: id })
