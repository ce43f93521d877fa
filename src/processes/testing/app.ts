import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Config } from '../../config.ts'
import { Activity } from '../../kernel/activity.ts'
import { Failure, notFound } from '../../kernel/failure.ts'
import type { App, AppModule, Credentials, Services, TokenRequest } from '../app-module.ts'

/*
 * A tiny app that keeps notes, for tests of the processes around it:
 *   GET /pid            the worker that answers       GET /slow?ms=500    answers later
 *   POST /notes?text=x  acknowledged when committed   GET /notes          all of them
 *   GET /exit           the worker ends by itself
 *   POST /forget?text=x  removes a note
 * A note `break jobs` makes the jobs process fail at each start, and `fill the disk` with the error of a full disk.
 */

export async function migrate(databaseUrl: string, progress: (line: string) => void): Promise<void> {
  progress('Migrating…')
  await query(databaseUrl, 'create table if not exists notes (text text not null)')
  await query(databaseUrl, 'create table if not exists users (name text primary key, token text not null)')
}

export async function bootstrap({ root }: Config, databaseUrl: string): Promise<Credentials | undefined> {
  const { password, token } = root
  if (password === undefined || token === undefined) throw new Error('the primary decides password and token')
  const made = await query(
    databaseUrl,
    `insert into users values ('root', '${token}') on conflict do nothing returning 1`,
  )
  return made.length === 0 ? undefined : { username: 'root', password, token }
}

/** The test app has no repositories, and accepts every database. */
export async function preload(): Promise<void> {}

export async function requireOwn(): Promise<void> {}

export async function adopt(): Promise<string> {
  return 'tiny'
}

export async function createToken(
  _: Config,
  { databaseUrl }: Services,
  { username, scopes }: TokenRequest,
): Promise<string> {
  const [user] = await query(databaseUrl, `select name from users where name = '${username}'`)
  if (user === undefined) throw notFound('User')
  return `token-of-${username}-for-${scopes.join('+')}`
}

export async function checkData(_: Config, { databaseUrl }: Services): Promise<string[]> {
  const notes = await query(databaseUrl, `select text from notes where text like 'bad%'`)
  return notes.map(({ text }) => `The note "${text}" is bad.`)
}

export async function createApp(config: Config, { databaseUrl }: Services): Promise<App> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 })
  pool.on('error', () => {})
  const activity = new Activity()
  const server = createServer((request, response) => {
    response.once('close', activity.begin('requests'))
    answer(request, response, pool).catch((error: Error) => response.writeHead(500).end(error.message))
  })
  return {
    async listen() {
      server.listen(config.http.port, config.http.host)
      await once(server, 'listening')
    },
    async runJobs() {
      const { rows } = await pool.query<{ text: string }>(`select text from notes`)
      const isThere = (text: string) => rows.some((note) => note.text === text)
      if (isThere('break jobs')) throw new Failure('unavailable', 'the jobs are broken')
      if (!isThere('fill the disk')) return
      await pool.query(`insert into notes values ('no room for jobs')`)
      throw Object.assign(new Error('could not extend file: No space left on device'), { code: '53100' })
    },
    busy: () => activity.busy,
    async stop(graceMs) {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      // A busy connection stays open after its response: the keep-alive header allows the client to reuse it.
      const idle = setInterval(() => server.closeIdleConnections(), 20)
      await Promise.race([closed, delay(graceMs, undefined, { ref: false })])
      clearInterval(idle)
      server.closeAllConnections()
    },
    async [Symbol.asyncDispose]() {
      await pool.end()
    },
  }
}

async function answer(request: IncomingMessage, response: ServerResponse, pool: pg.Pool): Promise<void> {
  const url = new URL(request.url!, 'http://host')
  switch (`${request.method} ${url.pathname}`) {
    case 'GET /pid':
      return void response.end(String(process.pid))
    case 'GET /slow':
      response.writeHead(200).write('started ')
      await delay(Number(url.searchParams.get('ms')))
      return void response.end('finished')
    case 'GET /exit':
      return process.exit(3)
    case 'POST /notes':
      await pool.query('insert into notes values ($1)', [url.searchParams.get('text')])
      return void response.writeHead(201).end()
    case 'POST /forget':
      await pool.query('delete from notes where text = $1', [url.searchParams.get('text')])
      return void response.end()
    case 'GET /notes': {
      const { rows } = await pool.query<{ text: string }>('select text from notes')
      return void response.end(JSON.stringify(rows.map(({ text }) => text)))
    }
    default:
      response.writeHead(404).end()
  }
}

async function query(databaseUrl: string, sql: string): Promise<Record<string, string>[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
// The compiler checks this module against the type that the processes expect. Commands of operators are tested with the product.
;({ preload, createApp, requireOwn, migrate, bootstrap, adopt, createToken, checkData }) satisfies Omit<
  AppModule,
  | 'findUnreadable'
  | 'backup'
  | 'listBackups'
  | 'findBackup'
  | 'verifyBackups'
  | 'restore'
  | 'inspectDatabase'
  | 'listUsers'
  | 'changeUser'
  | 'rotateSecrets'
  | 'probeBlobs'
  | 'moveBlobs'
>
