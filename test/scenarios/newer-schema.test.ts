import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { findEmbedded } from '../../src/db/embedded/start.ts'
import { Launched } from '../../src/processes/testing/launch.ts'
import { bin, freshEnv, serve } from '../service.ts'

const sentence =
  'A newer version of Stithy has migrated this database (to 9999_of_tomorrow): install that version again, or restore the backup from before the upgrade.'

/** Runs a command until it ends. */
async function command(words: readonly string[], env: Record<string, string>) {
  const launched = new Launched(words, env, { file: bin })
  return { code: await launched.exit, out: launched.out, err: launched.err }
}

test('every command refuses a database of a newer version in one sentence, and changes nothing', async () => {
  const env = await freshEnv()
  const { launched } = await serve(env)
  const client = new pg.Client({ connectionString: (await findEmbedded(env.STITHY_DATA_DIR))! })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.end())
  await client.query(`insert into schema_migrations (name) values ('9999_of_tomorrow.sql')`)
  // While the service runs, and when it is stopped.
  const create = ['token', 'create', '--user', 'root', '--scopes', 'api']
  expect(await command(create, env)).toEqual({ code: 1, out: '', err: `${sentence}\n` })
  launched.process.kill('SIGTERM')
  await launched.exit
  for (const words of [['serve'], ['migrate'], ['check'], create]) {
    const { code, err } = await command(words, env)
    expect({ words, code, err: err.trim().split('\n').at(-1) }).toEqual({ words, code: 1, err: sentence })
    expect(err).not.toContain('    at ')
  }
})

test('a start with a misspelt setting ends at once, and creates nothing', async () => {
  const env = await freshEnv()
  const folder = join(env.STITHY_DATA_DIR, 'new')
  const words = { ...env, STITHY_DATA_DIR: folder, STITHY_EXTERNAL_ULR: 'https://git.example.com' }
  expect(await command(['serve'], words)).toEqual({
    code: 2,
    out: '',
    err: 'Invalid setting: STITHY_EXTERNAL_ULR is not a setting: did you mean STITHY_EXTERNAL_URL?\n',
  })
  expect(() => writeFileSync(join(folder, 'x'), '')).toThrow('ENOENT')
})
