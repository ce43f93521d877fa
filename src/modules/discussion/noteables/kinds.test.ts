import { expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { noteableKinds } from './kinds.ts'

const shared = ['notes', 'mentions', 'award_emoji', 'subscriptions', 'todos', 'time_logs', 'label_events']

test.for(Object.values(noteableKinds))(
  'each table of discussion has a column that refers to $table',
  async ({ table, column, assigned, labels }, { world }) => {
    const tables = [...shared, ...assigned, labels].sort()
    const referring = await world.rows(
      `select conrelid::regclass::text as name from pg_constraint c
       join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any(c.conkey)
       where c.contype = 'f' and c.confrelid = $1::regclass and a.attname = $2 and c.conrelid::regclass::text = any($3::text[])
       order by 1`,
      [table, column, tables],
    )
    expect(referring.map(({ name }) => name)).toEqual(tables)
  },
)

test.for(Object.values(noteableKinds))(
  '$table has what notes, time tracking and rights read of it',
  async (kind, { world }) => {
    const columnsOf = async (table: string) =>
      (await world.rows('select column_name from information_schema.columns where table_name = $1', [table])).map(
        ({ column_name }) => column_name,
      )
    expect(await columnsOf(kind.table)).toEqual(
      expect.arrayContaining(['id', 'iid', 'project_id', 'author_id', 'title', 'time_estimate']),
    )
    expect(await columnsOf('projects')).toContain(kind.feature)
  },
)
