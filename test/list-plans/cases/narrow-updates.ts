import { expect, test } from 'vitest'
import { kindOf } from '../../../src/modules/discussion/noteables/kinds.ts'
import { client } from '../seeded.ts'

export function narrowUpdates(): void {
  test.each([
    ['issues', 'updated_at', kindOf('Issue').planned!.scheduled!.updates],
    ['merge_requests', 'updated_at', kindOf('MergeRequest').planned!.scheduled!.updates],
    ['projects', 'last_activity_at', { table: 'project_activity', view: 'projects_by_activity' }],
  ] as const)(
    'a change of one of %s that is of %s alone writes to no index of the table',
    async (table, column, { table: times, view }) => {
      const columnsOf = async (name: string) =>
        (
          await client.query(
            'select attname from pg_attribute where attrelid = $1::regclass and attnum > 0 order by 1',
            [name],
          )
        ).rows
      expect(await columnsOf(view)).toEqual(await columnsOf(table))
      await client.query('begin')
      const { rows } = await client.query(`select id from ${table} order by id desc limit 1`)
      const count = async (what: string) =>
        Number(
          (await client.query(`select pg_stat_get_xact_tuples_${what}($1::regclass) as number`, [table])).rows[0]
            .number,
        )
      // The first update moves the row to a page with room.
      for (const day of ['2040-01-01', '2040-01-02'])
        await client.query(`update ${table} set ${column} = $2 where id = $1`, [rows[0].id, day])
      expect(await count('hot_updated')).toBeGreaterThanOrEqual((await count('updated')) - 1)
      const copied = await client.query(`select ${column} as time from ${times} where id = $1`, [rows[0].id])
      expect(copied.rows[0].time).toEqual(new Date('2040-01-02'))
      await client.query('rollback')
    },
  )
}
