import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { installedVersion } from '../../test/installed-version.ts'
import { columnsOf } from '../../test/tables/discussion.ts'
import { test } from '../../test/world.ts'
import { lastJobsMigration } from '../db/migrate.ts'

test('graphile-worker has the version whose private tables we use', () => {
  expect(installedVersion('graphile-worker')).toBe('0.18.0')
  const migrations = readdirSync(fileURLToPath(new URL('../sql/', import.meta.resolve('graphile-worker'))))
  expect(migrations.sort().at(-1)).toBe(`${String(lastJobsMigration).padStart(6, '0')}.sql`)
})

test.for([
  ['_private_jobs', ['attempts', 'created_at', 'job_queue_id', 'key', 'locked_at', 'payload', 'run_at']],
  ['_private_job_queues', ['id', 'locked_at', 'locked_by']],
  ['_private_known_crontabs', ['last_execution']],
] as const)('graphile-worker stores %s in tables with the columns we use', async ([table, columns], { world }) => {
  const rows = await columnsOf(world, table, 'graphile_worker')
  expect(rows.map(({ column_name }) => column_name)).toEqual(expect.arrayContaining([...columns]))
})
