import { expect } from 'vitest'
import { columnsOf, tablesReferring } from '../../../../test/tables/discussion.ts'
import { test } from '../../../../test/world.ts'
import { noteableKinds } from './kinds.ts'

const shared = [
  'notes',
  'mentions',
  'award_emoji',
  'subscriptions',
  'todos',
  'time_logs',
  'label_events',
  'milestone_events',
  'state_events',
]

test.for(Object.values(noteableKinds))(
  'each table of discussion has a column that refers to $table',
  async ({ table, column, assigned, labels }, { world }) => {
    const tables = [...shared, ...assigned, labels].sort()
    const referring = await tablesReferring(world, table, column, tables)
    expect(referring.map(({ name }) => name)).toEqual(tables)
  },
)

test.for(Object.values(noteableKinds))(
  '$table has what notes, time tracking and rights read of it',
  async (kind, { world }) => {
    const names = async (table: string) => (await columnsOf(world, table)).map(({ column_name }) => column_name)
    expect(await names(kind.table)).toEqual(
      expect.arrayContaining(['id', 'iid', 'project_id', 'author_id', 'title', 'time_estimate']),
    )
    expect(await names('projects')).toContain(kind.feature)
  },
)
