import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { expect, inject } from 'vitest'
import { freePort, Launched, temporaryFolder } from '../src/processes/testing/launch.ts'
import { databaseAt } from './global-setup.ts'
import { bin, rootToken } from './service.ts'
import { TcpProxy } from './tcp-proxy.ts'
import { waitMs } from './waiting.ts'

/** A service whose database is behind a proxy, and a way to query that database directly. `more` are further variables. */
export async function behindProxy(more: Record<string, string> = {}) {
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
    STITHY_ROOT_TOKEN: rootToken,
    STITHY_PROCESSES: '1',
    ...more,
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
  return { launched, proxy, ask, origin: `http://127.0.0.1:${env.STITHY_HTTP_PORT}` }
}
