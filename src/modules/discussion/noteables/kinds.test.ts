import { expect } from 'vitest'
import { columnsOf, tablesReferring } from '../../../../test/tables/discussion.ts'
import { test } from '../../../../test/world.ts'
import { holderOf } from './holder-queries.ts'
import { kindOf, noteableTypes } from './kinds.ts'

const shared = ['notes', 'mentions', 'award_emoji', 'subscriptions']
const ofPlanned = ['label_events', 'state_events']
const ofScheduled = ['time_logs', 'milestone_events']

test.for(noteableTypes)(
  'each table of discussion has the column of %s, todos and the tables of plans only if it has such',
  async (type, { world }) => {
    const { table, column, todos, planned } = kindOf(type)
    const tables = [
      ...shared,
      ...(todos ? ['todos'] : []),
      ...(planned ? [...ofPlanned, planned.labels] : []),
      ...(planned?.scheduled ? [...ofScheduled, ...planned.scheduled.assigned] : []),
    ].sort()
    const referring = await tablesReferring(world, table, column, [
      'todos',
      ...shared,
      ...ofPlanned,
      ...ofScheduled,
      ...tables,
    ])
    expect(referring.map(({ name }) => name)).toEqual(tables)
  },
)

test.for(noteableTypes)(
  'the table of %s has what notes, time tracking and rights read of it',
  async (type, { world }) => {
    const kind = kindOf(type)
    const names = async (table: string) => (await columnsOf(world, table)).map(({ column_name }) => column_name)
    expect(await names(kind.table)).toEqual(
      expect.arrayContaining([
        'id',
        kind.number,
        holderOf(type).column,
        'author_id',
        'title',
        ...(kind.planned?.scheduled ? ['time_estimate'] : []),
      ]),
    )
    if (kind.holder.of === 'project') expect(await names('projects')).toContain(kind.holder.feature)
  },
)
