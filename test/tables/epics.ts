import type { Caller } from '../../src/access/actor.ts'
import { sql } from '../../src/db/sql.ts'
import { joinHolder } from '../../src/modules/discussion/noteables/holder-queries.ts'
import { readableById, readersOfRow } from '../../src/modules/discussion/noteables/queries.ts'
import type { World } from '../world.ts'
import { addAll, find } from './statements.ts'

export type NewEpicRow = {
  readonly iid: number
  readonly namespace_id: number
  readonly title: string
  readonly description: string
  readonly author_id: number
  readonly state: 'opened' | 'closed'
  readonly confidential: boolean
  readonly created_at: string
  readonly updated_at: string
}

export const addEpics = (world: World, rows: readonly NewEpicRow[]) =>
  addAll(
    world,
    'epics',
    ['iid', 'namespace_id', 'title', 'description', 'author_id', 'state', 'confidential', 'created_at', 'updated_at'],
    rows,
  )

export const addEpicLabels = (world: World, rows: readonly { epic_id: number; label_id: number }[]) =>
  addAll(world, 'epic_labels', ['epic_id', 'label_id'], rows)

export const addEpicAwards = (world: World, rows: readonly { epic_id: number; user_id: number; name: string }[]) =>
  addAll(world, 'award_emoji', ['epic_id', 'user_id', 'name'], rows)

export const addEpicIssues = (
  world: World,
  rows: readonly { epic_id: number; issue_id: number; relative_position: number }[],
) => addAll(world, 'epic_issues', ['epic_id', 'issue_id', 'relative_position'], rows)

/** Whether the caller may read an epic, by the condition of queries for callers. */
export const isReadable = (world: World, caller: Caller, id: number): Promise<boolean> =>
  world.db.exists(sql`select where ${readableById('Epic', sql`${id}`, caller)}`)

/** Whether a user may read an epic, by the condition of queries for users. */
export const isReader = (world: World, userId: number, id: number): Promise<boolean> =>
  world.db.exists(
    sql`
      select
      from users u, epics m ${joinHolder('Epic')}
      where u.id = ${userId} and m.id = ${id} and ${readersOfRow('Epic')}
    `,
  )

/** The user who closed each epic of a group. */
export const closersOf = async (world: World, groupId: number): Promise<(number | null)[]> =>
  (await find(world, 'epics', { namespace_id: groupId }, ['closed_by_id'])).map(({ closed_by_id }) => closed_by_id)
