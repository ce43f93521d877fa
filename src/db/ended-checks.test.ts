import { expect, test } from 'vitest'
import { olderDatabase, olderTables } from '../../test/older-release.ts'
import { migrate } from './migrate.ts'

test('merge requests that were merged or closed while an older release checked them are not checking any longer', async () => {
  const { client, databaseUrl } = await olderDatabase(await olderTables())
  const ids = (await client.query<{ id: string }>('select id from merge_requests order by id')).rows.map(({ id }) => id)
  await client.query(`update merge_requests set merge_status = 'checking', state = 'closed'`)
  await client.query(`update merge_requests set state = 'merged' where id = $1`, [ids[0]])
  await migrate(databaseUrl)
  const { rows } = await client.query('select state, merge_status from merge_requests order by id limit 2')
  expect(rows).toEqual([
    { state: 'merged', merge_status: 'can_be_merged' },
    { state: 'closed', merge_status: 'unchecked' },
  ])
  await client.end()
})
