import type { World } from '../world.ts'
import { change, find } from './statements.ts'

/** Ids of the issues of projects in their order: by position, then those without one, the newest first. */
export const orderOfIssues = async (world: World, project_id: readonly number[]): Promise<number[]> =>
  (await find(world, 'issues', { project_id }, ['id'], 'relative_position nulls last, id desc')).map(({ id }) =>
    Number(id),
  )

/** Positions of the issues of a project, by their ids. */
export const positionsOf = async (world: World, project_id: number): Promise<ReadonlyMap<number, number | null>> => {
  const rows = await find(world, 'issues', { project_id }, ['id', 'relative_position'])
  return new Map(
    rows.map((row) => [Number(row.id), row.relative_position === null ? null : Number(row.relative_position)]),
  )
}

/** Ids of the issues of projects that have a position, in their order. */
export const placedIssues = async (world: World, project_id: readonly number[]): Promise<number[]> => {
  const rows = await find(world, 'issues', { project_id }, ['id', 'relative_position'], 'relative_position, id desc')
  return rows.filter((row) => row.relative_position !== null).map(({ id }) => Number(id))
}

export const placeIssue = (world: World, id: number, relative_position: number) =>
  change(world, 'issues', { id }, { relative_position })

/** Creates issues of a project without what follows, and returns their ids, oldest first. */
export const addIssues = async (world: World, projectId: number, count: number): Promise<number[]> => {
  const rows = await world.rows(
    `insert into issues (iid, project_id, title, author_id)
      select 1000 + n, $1, 'x', 1 from generate_series(1, $2::integer) n returning id`,
    [projectId, count],
  )
  return rows.map(({ id }) => Number(id))
}
