import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { Agent, type FormData, request } from 'undici'
import { test as base, expect, inject } from 'vitest'
import { type Level, levels, type Visibility } from '../src/access/levels.ts'
import { scopes as allScopes, type Scope } from '../src/access/scopes.ts'
import { type App, createApp, type Overrides } from '../src/app.ts'
import { bootstrap } from '../src/commands.ts'
import { type Config, parseConfig } from '../src/config.ts'
import { openDatabase } from '../src/db/database.ts'
import type { Database } from '../src/db/db.ts'
import { takeFaults } from '../src/db/testing/check.ts'
import { columnTypes } from '../src/db/types.ts'
import { emit } from '../src/events/log.ts'
import { createToken } from '../src/modules/accounts/tokens/service.ts'
import { plainUser } from '../src/modules/accounts/users/new-user.ts'
import { digestPassword } from '../src/modules/accounts/users/password.ts'
import { addUser } from '../src/modules/accounts/users/service.ts'
import { recoverPushes } from '../src/modules/pushes/pushes/recovery.ts'
import { freePort } from '../src/processes/testing/launch.ts'
import type { Settings } from '../src/settings/settings.ts'
import { saveSettings } from '../src/settings/store.ts'
import { checkAnswer, checkStatus } from './answers.ts'
import { databaseAt } from './global-setup.ts'
import { run } from './programs/run.ts'
import { waitMs } from './waiting.ts'

export type Answer = {
  status: number
  headers: Record<string, string | undefined>
  text: string
  /** The parsed body of a JSON response. */
  json: any
}

export type Sent = {
  headers?: Record<string, string>
  /** Sent as JSON. */
  json?: unknown
  /** Sent unchanged. */
  body?: string | Buffer | FormData
}

/** An HTTP client of the service, signed in as a user or anonymous. */
export class Client {
  readonly #origin: string
  readonly id: number
  readonly username: string
  readonly token: string | undefined

  constructor(origin: string, who?: { id: number; username: string; token: string }) {
    this.#origin = origin
    this.id = who?.id ?? 0
    this.username = who?.username ?? ''
    this.token = who?.token
  }

  /** `path` is below `/api/v4`, or absolute when it begins with `//`, as `//-/health`. */
  async send(method: string, path: string, { headers = {}, json, body }: Sent = {}): Promise<Answer> {
    const url = path.startsWith('//') ? this.#origin + path.slice(1) : `${this.#origin}/api/v4${path}`
    const answer = await request(url, {
      method: method as 'GET',
      dispatcher: agent,
      headers: {
        ...(this.token !== undefined && { 'private-token': this.token }),
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: (json === undefined ? (body ?? null) : JSON.stringify(json)) as string | null,
    })
    const text = await answer.body.text()
    checkStatus(method, new URL(url).pathname, answer.statusCode)
    return {
      status: answer.statusCode,
      headers: answer.headers as Answer['headers'],
      text,
      json:
        String(answer.headers['content-type']).startsWith('application/json') && text !== ''
          ? JSON.parse(text)
          : undefined,
    }
  }

  /** The bytes of an absolute URL. */
  async bytes(
    url: string,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; headers: Answer['headers']; body: Buffer }> {
    const answer = await request(url, { dispatcher: agent, headers })
    return {
      status: answer.statusCode,
      headers: answer.headers as Answer['headers'],
      body: Buffer.from(await answer.body.arrayBuffer()),
    }
  }

  get = (path: string, sent?: Sent) => this.send('GET', path, sent)
  head = (path: string, sent?: Sent) => this.send('HEAD', path, sent)
  post = (path: string, json: unknown = {}) => this.send('POST', path, { json })
  put = (path: string, json: unknown = {}) => this.send('PUT', path, { json })
  delete = (path: string, sent?: Sent) => this.send('DELETE', path, sent)
}

const agent = new Agent({ connections: 50, pipelining: 1 })

export type TestGroup = { id: number; full_path: string; path: string }
export type TestProject = TestGroup & { name: string; url: string; default_branch: string | null }

export type QueuedJob = { key: string; payload: any; attempts: number; is_delayed: boolean; is_running: boolean }

let count = 0
/** A unique name: databases outlive tests. */
export const unique = (word: string): string => `${word}-${process.pid.toString(36)}-${(++count).toString(36)}`

const usualPassword = 'correct horse battery'
let usualDigest: Promise<string> | undefined

/** Attributes of a user that are stored unchanged. */
const plainAttributes: ReadonlySet<string> = new Set(['admin', 'private_profile'])

/** The service with its own database, and factories for fixtures. */
export class World {
  readonly app: App
  readonly config: Config
  readonly origin: string
  readonly db: Database
  readonly databaseUrl: string
  /** The first administrator. */
  readonly root: Client
  readonly anonymous: Client
  /** The file of the last test. */
  #file: string | undefined

  private constructor(parts: {
    app: App
    config: Config
    origin: string
    db: Database
    databaseUrl: string
    rootToken: string
  }) {
    this.app = parts.app
    this.config = parts.config
    this.origin = parts.origin
    this.db = parts.db
    this.databaseUrl = parts.databaseUrl
    this.root = new Client(parts.origin, { id: 1, username: 'root', token: parts.rootToken })
    this.anonymous = new Client(parts.origin)
  }

  static async start(env: Record<string, string> = {}, overrides: Overrides = {}): Promise<World> {
    const { adminUrl, template } = inject('postgres')
    const name = `world_${process.pid}_${randomBytes(4).toString('hex')}`
    const admin = new pg.Client({ connectionString: adminUrl })
    await admin.connect()
    await admin.query(`create database ${name} template ${template}`)
    await admin.end()
    const databaseUrl = databaseAt(adminUrl, name)
    const dataDir = await mkdtemp(join(tmpdir(), 'stithy-world-'))
    const [port, sshPort] = await Promise.all([freePort(), freePort()])
    const config = parseConfig({
      STITHY_DATA_DIR: dataDir,
      STITHY_HTTP_PORT: String(port),
      STITHY_SSH_PORT: String(sshPort),
      STITHY_DATABASE_URL: databaseUrl,
      STITHY_ROOT_TOKEN: 'root-token-for-tests',
      STITHY_ROOT_PASSWORD: 'root-password-for-tests',
      STITHY_LOG_LEVEL: 'error',
      ...env,
    })
    await bootstrap(config, databaseUrl)
    const app = await createApp(
      config,
      { databaseUrl, runnerSocket: inject('runnerSocket') },
      { onAnswer: checkAnswer, jobTimes, ...overrides },
    )
    await app.listen()
    return new World({
      app,
      config,
      origin: `http://127.0.0.1:${port}`,
      db: openDatabase(databaseUrl, { readers: 1, writers: 2 }),
      databaseUrl,
      rootToken: 'root-token-for-tests',
    })
  }

  /**
   * Called before each test. Nothing that other files of the worker left delays or changes what this file waits for: their jobs, of which there
   * are thousands, and the hooks and the push rule of the installation are removed, and what the first administrator wrote is moved into the
   * past, because the mails about notes and todos of one author are limited per hour.
   */
  async beginTest(file: string | undefined): Promise<void> {
    if (file === this.#file) return
    this.#file = file
    await this.rows('delete from graphile_worker._private_jobs where locked_at is null')
    for (const table of ['hooks', 'push_rules'])
      await this.rows(`delete from ${table} where project_id is null and namespace_id is null`)
    const hour = "interval '1 hour'"
    for (const table of ['notes', 'todos'])
      await this.rows(
        `update ${table} set created_at = created_at - ${hour} where author_id = $1 and created_at > now() - ${hour}`,
        [this.root.id],
      )
  }

  /** A user with a token of scope `api` and the default password. */
  async user(attributes: Record<string, unknown> = {}): Promise<Client> {
    const username = unique('user')
    const account = { username, name: `Name of ${username}`, email: `${username}@example.com`, ...attributes }
    // The API hashes a password and applies the settings: slow, and unnecessary for a user whom a test needs only to exist.
    const isPlain = Object.keys(attributes).every((name) => plainAttributes.has(name))
    if (isPlain && this.#settingsBefore === undefined) return this.#plainUser(account)
    const made = await this.root.post('/users', { password: usualPassword, skip_confirmation: true, ...account })
    expectStatus(made, 201)
    return this.as(made.json)
  }

  /** Writes the rows that the API would write, in one transaction. */
  async #plainUser(account: { username: string; name: string; email: string }): Promise<Client> {
    usualDigest ??= digestPassword(usualPassword)
    const passwordDigest = await usualDigest
    const { username, name, email } = account
    const actorId = this.root.id
    const ctx = await this.app.open(null)
    return ctx.transaction(async (tx) => {
      const user_id = await addUser(tx, { ...plainUser, ...account, passwordDigest })
      const facts = { username, name, email }
      await emit(tx, { kind: 'user_created', actorId, payload: { user_id, confirmed: true }, facts })
      const scopes: readonly Scope[] = ['api']
      const made = await createToken(tx, { kind: 'personal', userId: user_id, name: 'test', scopes, expiresAt: null })
      await emit(tx, {
        kind: 'access_token_created',
        actorId,
        payload: { user_id, token_id: made.id },
        facts: { token_kind: made.kind, name: made.name, scopes, expires_at: null },
      })
      return new Client(this.origin, { id: user_id, username, token: made.token })
    })
  }

  /** A client for the same user with a token of these scopes. */
  async as(who: { id: number; username: string }, scopes: readonly Scope[] = ['api']): Promise<Client> {
    const made = await this.root.post(`/users/${who.id}/personal_access_tokens`, { name: 'test', scopes })
    expectStatus(made, 201)
    return new Client(this.origin, { id: who.id, username: who.username, token: made.json.token })
  }

  async group(
    {
      visibility = 'private',
      parent,
      members = [],
      ...rest
    }: {
      visibility?: Visibility
      parent?: TestGroup
      members?: readonly [Client, Level][]
      [attribute: string]: unknown
    } = {},
    creator: Client = this.root,
  ): Promise<TestGroup> {
    const path = unique('group')
    const made = await creator.post('/groups', { name: path, path, visibility, parent_id: parent?.id, ...rest })
    expectStatus(made, 201)
    for (const [member, level] of members)
      expectStatus(
        await creator.post(`/groups/${made.json.id}/members`, { user_id: member.id, access_level: levels[level] }),
        201,
      )
    return made.json
  }

  /** A project in a new group unless `group` is given; created by the first administrator. */
  async project({
    visibility = 'private',
    group,
    members = [],
    ...rest
  }: {
    visibility?: Visibility
    group?: TestGroup
    members?: readonly [Client, Level][]
    [attribute: string]: unknown
  } = {}): Promise<TestProject> {
    const path = unique('project')
    const namespace = group ?? (await this.group({ visibility }))
    const made = await this.root.post('/projects', {
      name: path,
      path,
      visibility,
      namespace_id: namespace.id,
      ...rest,
    })
    expectStatus(made, 201)
    for (const [member, level] of members)
      expectStatus(
        await this.root.post(`/projects/${made.json.id}/members`, { user_id: member.id, access_level: levels[level] }),
        201,
      )
    return {
      id: made.json.id,
      name: made.json.name,
      path,
      full_path: made.json.path_with_namespace,
      default_branch: null,
      url: `${this.origin}/${made.json.path_with_namespace}.git`,
    }
  }

  /** The URL of a project's repository with the user's token in it. */
  remote(project: TestProject, who: Client): string {
    const at = new URL(project.url)
    at.username = who.username
    at.password = who.token ?? ''
    return at.toString()
  }

  async archive(project: TestProject): Promise<void> {
    await this.rows('update projects set archived = true where id = $1', [project.id])
  }

  /** Reads or changes the database directly. */
  async rows(text: string, values: readonly unknown[] = []): Promise<any[]> {
    this.#direct ??= directPool(this.databaseUrl)
    return (await this.#direct.query(text, [...values])).rows
  }
  #direct: pg.Pool | undefined

  /** Runs jobs from now to the end of the test, which fails with the cause if the runner ends before. */
  async runJobs(): Promise<void> {
    // Two runners would release the locks of each other's jobs.
    if (this.#jobs) throw new Error('this world runs jobs already')
    const jobs: { broken?: Error } = {}
    this.#jobs = jobs
    await this.app.runJobs((error) => {
      jobs.broken = error
    })
  }
  #jobs: { readonly broken?: Error } | undefined

  async #endJobs(): Promise<void> {
    const broken = this.#jobs?.broken
    this.#jobs = undefined
    await this.app.stopJobs()
    if (broken) throw new Error(`the job runner ended: ${broken.message}`, { cause: broken })
  }

  /** Leaves nothing of a test in a world that tests share: no running jobs, no changed settings. */
  async endTest(): Promise<void> {
    await this.#endJobs().finally(() => this.restoreSettings())
  }

  /** Queued jobs with this key, in which `%` stands for any text, oldest first. */
  jobs(key: string): Promise<QueuedJob[]> {
    return this.rows(
      `select key, payload, attempts, run_at > created_at as is_delayed, locked_at is not null as is_running
        from graphile_worker._private_jobs where key like $1 order by id`,
      [key.replaceAll('_', '\\_')],
    )
  }

  /** Removes these jobs from the queue. */
  async takeJobs(key: string): Promise<QueuedJob[]> {
    const taken = await this.jobs(key)
    await this.rows('delete from graphile_worker._private_jobs where key = any($1)', [taken.map((job) => job.key)])
    return taken
  }

  /** Resolves when at least this many statements wait for locks of other transactions. */
  async waitsForLock(statements = 1): Promise<void> {
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await expect.poll(async () => (await this.rows(waiting)).length).toBeGreaterThanOrEqual(statements)
  }

  /** Settles interrupted pushes, as a start does after a crash. */
  async recover(): Promise<void> {
    await recoverPushes(await this.app.open(null), 0)
  }

  /** Changes settings of the instance, at once in this process, and restores them at the end of the test. */
  async settings(values: Partial<Settings>): Promise<void> {
    this.#settingsBefore ??= (await this.rows('select values from application_settings'))[0].values
    // That of the app, which hears of the change before this ends.
    await (await this.app.open(null)).transaction((tx) => saveSettings(tx, values))
  }
  #settingsBefore: Partial<Settings> | undefined

  /** Undoes `settings`. */
  async restoreSettings(): Promise<void> {
    if (!this.#settingsBefore) return
    await this.rows(`update application_settings set values = '{}'`)
    await this.settings(this.#settingsBefore)
    this.#settingsBefore = undefined
  }

  /** Restores the default appearance of the instance. */
  async plainAppearance(): Promise<void> {
    await this.rows(`update appearance set texts = default, logo = null, logo_digest = null, header_logo = null,
      header_logo_digest = null, favicon = null, favicon_digest = null`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await using stack = new AsyncDisposableStack()
    stack.defer(() => rm(this.config.dataDir, { recursive: true, force: true }))
    stack.defer(async () => this.#direct?.end())
    stack.use(this.db)
    stack.use(this.app)
    await this.#endJobs()
  }
}

/** Connections that stay open: a new one costs more than most statements. */
function directPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    types: columnTypes,
    max: 10,
    idleTimeoutMillis: 2_000,
    allowExitOnIdle: true,
  })
  // A test may end all connections.
  pool.on('error', () => {})
  return pool
}

export { allScopes, freePort }

function expectStatus(answer: Answer, status: number): void {
  if (answer.status !== status) throw new Error(`expected ${status}, got ${answer.status}: ${answer.text}`)
}

const gitEnv = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Test Author',
  GIT_AUTHOR_EMAIL: 'author@example.com',
  GIT_COMMITTER_NAME: 'Test Committer',
  GIT_COMMITTER_EMAIL: 'committer@example.com',
}

/** Runs real git; resolves with its trimmed output. Rejects with its messages when it fails. */
export async function git(directory: string, ...args: string[]): Promise<string> {
  const { stdout } = await run('git', args, { cwd: directory, env: gitEnv })
  return stdout.trim()
}

/** As `git`, but resolves with the messages on stderr. */
export async function gitMessages(directory: string, ...args: string[]): Promise<string> {
  const { stderr } = await run('git', args, { cwd: directory, env: gitEnv })
  return stderr
}

/** A temporary folder that is removed at the end of the test. */
export async function temporaryFolder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'stithy-work-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

/** Limits of the job runner that a busy machine cannot exceed; tests of these limits set their own. In milliseconds. */
const jobTimes = { start: waitMs, connect: 10_000, probe: 15_000, idle: 2 * waitMs }

let shared: Promise<World> | undefined

/** A test with the worker's world: all tests of a worker share one application, so names must be unique. */
export const test = base.extend<{ world: World }>({
  world: async ({ task }, use) => {
    shared ??= World.start()
    const world = await shared
    await world.beginTest(task.file.filepath)
    await use(world)
    await world.endTest()
    for (const fault of await takeFaults()) throw fault
  },
})
