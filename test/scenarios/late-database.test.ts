import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { freePort, Launched, temporaryFolder } from '../../src/processes/testing/launch.ts'
import { databaseAt } from '../global-setup.ts'
import { TcpProxy } from '../tcp-proxy.ts'
import { waitMs } from '../waiting.ts'

const bin = fileURLToPath(new URL('../../bin/stithy.js', import.meta.url))

/** A service whose database is behind a proxy, and a way to query that database directly. */
async function behindProxy() {
  const { adminUrl, template } = inject('postgres')
  const admin = new pg.Client({ connectionString: adminUrl })
  await admin.connect()
  const name = `late_${process.pid}_${randomBytes(4).toString('hex')}`
  await admin.query(`create database ${name} template ${template}`)
  await admin.end()
  const direct = databaseAt(adminUrl, name)
  const url = new URL(direct)
  const proxy = await TcpProxy.start(`${url.searchParams.get('host')}/.s.PGSQL.5432`)
  url.searchParams.delete('host')
  url.host = `127.0.0.1:${proxy.port}`
  const env = {
    STITHY_DATA_DIR: await temporaryFolder(),
    STITHY_HTTP_PORT: String(await freePort()),
    STITHY_DATABASE_URL: url.toString(),
    STITHY_LOG_LEVEL: 'fatal',
    STITHY_PROCESSES: '1',
  }
  const ask = async (text: string) => {
    const client = new pg.Client({ connectionString: direct })
    await client.connect()
    return (await client.query(text).finally(() => client.end())).rows[0]
  }
  const takenAt = async () => (await ask('select taken_at from job_runner'))?.taken_at
  const atFirst = await takenAt()
  const launched = new Launched(['serve'], env, { file: bin })
  await launched.ready()
  // The jobs process starts when requests are answered.
  await expect.poll(takenAt, { timeout: waitMs }).not.toEqual(atFirst)
  return { launched, proxy, ask }
}

test.for([
  { what: 'its eighth connection is held for 15 s', ordinal: 8, lateMs: 15_000 },
  { what: 'its database starts late', ordinal: undefined, lateMs: 5_000 },
])('the jobs process takes jobs again after it was killed, when $what', async ({ ordinal, lateMs }) => {
  const { launched, proxy, ask } = await behindProxy()
  await using _proxy = proxy
  const jobs = launched.named('stithy jobs')
  expect(jobs).toHaveLength(1)
  const before = proxy.accepted
  proxy.hold((n) => ordinal === undefined || n === before + ordinal)
  process.kill(jobs[0]!, 'SIGKILL')
  await delay(lateMs)
  proxy.release()
  const { released } = await ask('select now() as released')
  const taken = () => ask('select taken_at from job_runner').then(({ taken_at }) => taken_at > released)
  await expect.poll(taken, { timeout: 2 * waitMs, interval: 200 }).toBe(true)
})
