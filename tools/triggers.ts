import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbedded } from '../src/db/embedded/start.ts'
import { migrate } from '../src/db/migrate.ts'
import { type TriggerRow, triggersFile, triggersQuery, triggersText } from './triggers-text.ts'

// Writes docs/triggers.md, which lists every trigger, from a new database. test/tools/triggers.test.ts reports whether it is up to date.
const folder = await mkdtemp(join(tmpdir(), 'stithy-triggers-'))
const postgres = await startEmbedded({ dataDir: folder, durability: 'none', log: () => {} })
try {
  await migrate(postgres.url)
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  const { rows } = await client.query<TriggerRow>(triggersQuery)
  await client.end()
  await writeFile(triggersFile, triggersText(rows))
} finally {
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}
