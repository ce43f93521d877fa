import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { Type } from 'typebox'
import { expect } from 'vitest'
import { contextFor } from '../../test/contexts.ts'
import { installedVersion } from '../../test/installed-version.ts'
import { statementsDuring } from '../../test/jobs.ts'
import { columnsOf } from '../../test/tables/discussion.ts'
import { test, World } from '../../test/world.ts'
import { lastJobsMigration } from '../db/migrate.ts'
import { enqueue, job } from './job.ts'
import { startJobs } from './runner.ts'
import { makesNoneDue, soughtBy } from './worker-internals.ts'

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

test('graphile-worker names the statements that look for a job and remove one as we expect', async () => {
  await using world = await World.start()
  const ctx = await contextFor(world, null)
  const ran = Promise.withResolvers<void>()
  const once = job({ name: 'once', input: Type.Object({}), attempts: 1, run: async () => ran.resolve() })
  const statements = await statementsDuring(async () => {
    const runner = await startJobs({
      databaseUrl: world.databaseUrl,
      jobs: [once],
      open: async () => ctx,
      log: pino({ level: 'silent' }),
      onBroken: (error) => ran.reject(error),
    })
    await ctx.transaction((tx) => enqueue(tx, once, {}))
    await ran.promise
    await runner.stop()
  })
  const sought = statements.flatMap((statement) => soughtBy(statement) ?? [])
  expect(sought).toContainEqual(expect.stringMatching(/^\d+(,\d+)*$/))
  expect(statements.filter(makesNoneDue)).not.toEqual([])
})
