import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Config } from '../config.ts'
import { counted, inMegabytes } from '../kernel/amounts.ts'
import { wallClockMs } from '../kernel/clock.ts'
import { Failure } from '../kernel/failure.ts'
import { parseBlobUrl } from '../setting-texts.ts'
import { loadAppModule, type UserAction } from './app-module.ts'
import { backup, listBackups, restore, verifyBackups } from './backup-commands.ts'
import { doctor } from './doctor.ts'
import { explain } from './explain.ts'
import type { Parts } from './parts.ts'
import { serve } from './serve.ts'
import { listenForStop, type Terminal } from './terminal.ts'
import { UsageError } from './usage-error.ts'
import { withDatabase, withDatabaseAlone, withServices } from './with-services.ts'

const help = `Stithy, a source-hosting service

  stithy serve                 start the service; Ctrl-C stops it
  stithy migrate               bring the database up to date, and end
  stithy token create --user NAME --scopes api,read_api [--name TEXT] [--expires-at YYYY-MM-DD]
                               print a new access token of that user
  stithy user list             print all users
  stithy user reset-password --user NAME
                               print a new random password for that user
  stithy user unlock --user NAME
                               allow sign-ins again after too many failed ones
  stithy user unblock --user NAME
                               activate a blocked, banned or deactivated user
  stithy user make-admin --user NAME
                               make that user an administrator
  stithy doctor [--mail-to ADDRESS]
                               check settings, git, data folder, database, ports, address and mail, and say what to do
  stithy check [--read-blobs]  compare database, repositories and blobs; with --read-blobs read every blob, too, and
                               report which are damaged
  stithy blobs move --to URL [--skip-damaged]
                               move all blobs to another folder or object storage, also while the service runs
  stithy backup [--to URL] [--key-file FILE] [--full]
                               back up everything to a folder or object storage, also while the service runs
  stithy backup list [--from URL] [--key-file FILE]
                               print all backups
  stithy backup verify [--from URL] [--key-file FILE] [--at ID]
                               read all backups, or one, and report what is damaged
  stithy restore [--from URL] [--key-file FILE] [--at ID] [--into FOLDER] [--quiet]
                               restore the newest backup, or another, into an empty data folder; with --quiet as a copy
                               that sends no mails and hooks
  stithy rotate-secrets        encrypt the stored secrets with a new key; the service must not run
  stithy adopt                 make a restored database and the data folder belong together, when a start
                               has refused the two; the service must not run

  --help, --version

Settings are environment variables; the first start needs none. The most used:
  STITHY_DATA_DIR              folder of all data (./data)
  STITHY_HTTP_PORT             8080
  STITHY_DATABASE_URL          a PostgreSQL of yours (absent: one that comes with Stithy)
`

type Context = { config: () => Config; parts: Parts; terminal: Terminal }

/** Runs a command; resolves with the exit code: 0 success, 1 failure, 2 invalid settings or arguments. */
export async function run(words: readonly string[], context: Context): Promise<number> {
  const { terminal } = context
  try {
    return await dispatch(words, context)
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.err(`${error.message} See stithy --help.`)
      return 2
    }
    const { sentence, expected } = explain(error)
    terminal.err(expected ? sentence : `${sentence}\n${(error as Error).stack}`)
    return ['ConfigError', 'WrongSetting'].includes((error as Error).name) ? 2 : 1
  }
}

async function dispatch(words: readonly string[], { config, parts, terminal }: Context): Promise<number> {
  const { values, positionals } = parse(words)
  if (values.version) terminal.out(version())
  else if (values.help) terminal.out(help)
  else {
    const command = positionals.join(' ')
    refuseOptions(values, command)
    switch (command) {
      case 'serve':
        await serve(config(), parts, terminal, listenForStop())
        break
      case 'migrate':
        await migrate(config(), parts, terminal)
        break
      case 'token create':
        await createToken(values, config(), parts, terminal)
        break
      case 'adopt':
        await adopt(config(), parts, terminal)
        break
      case 'user list':
        await listUsers(config(), parts, terminal)
        break
      case 'user reset-password':
      case 'user unlock':
      case 'user unblock':
      case 'user make-admin':
        await changeUser(command.slice('user '.length) as UserAction, values, config(), parts, terminal)
        break
      case 'rotate-secrets':
        await rotateSecrets(config(), parts, terminal)
        break
      case 'doctor':
        return doctor({ config, parts, terminal, mailTo: values['mail-to'] })
      case 'blobs move':
        return moveBlobs(values, config(), parts, terminal)
      case 'backup':
        return backup(values, config(), parts, terminal)
      case 'backup list':
        return listBackups(values, config(), parts, terminal)
      case 'backup verify':
        return verifyBackups(values, config(), parts, terminal)
      case 'restore':
        return restore(values, config(), parts, terminal)
      case 'check':
        return check(values, config(), parts, terminal)
      case '':
        terminal.out(help)
        return 2
      default:
        throw new UsageError(`There is no command "${command}".`)
    }
  }
  return 0
}

type Values = ReturnType<typeof parse>['values']

function parse(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
        user: { type: 'string' },
        scopes: { type: 'string' },
        name: { type: 'string' },
        'expires-at': { type: 'string' },
        'mail-to': { type: 'string' },
        to: { type: 'string' },
        'skip-damaged': { type: 'boolean' },
        from: { type: 'string' },
        'key-file': { type: 'string' },
        full: { type: 'boolean' },
        at: { type: 'string' },
        into: { type: 'string' },
        'read-blobs': { type: 'boolean' },
        quiet: { type: 'boolean' },
      },
    })
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0]!.replace(/\.?$/, '.'))
  }
}

/** The options of the commands that have some. */
const optionsOf: Readonly<Record<string, readonly string[]>> = {
  'token create': ['user', 'scopes', 'name', 'expires-at'],
  'user reset-password': ['user'],
  'user unlock': ['user'],
  'user unblock': ['user'],
  'user make-admin': ['user'],
  doctor: ['mail-to'],
  'blobs move': ['to', 'skip-damaged'],
  backup: ['to', 'key-file', 'full'],
  'backup list': ['from', 'key-file'],
  'backup verify': ['from', 'key-file', 'at'],
  check: ['read-blobs'],
  restore: ['from', 'key-file', 'at', 'into', 'quiet'],
}

function refuseOptions(values: Values, command: string): void {
  const option = Object.keys(values).find((each) => !optionsOf[command]?.includes(each))
  if (option !== undefined) throw new UsageError(`The command "${command}" has no option --${option}.`)
  const empty = Object.entries(values).find(([, value]) => typeof value === 'string' && value.trim() === '')
  if (empty !== undefined) throw new UsageError(`The option --${empty[0]} is empty.`)
}

async function migrate(config: Config, parts: Parts, terminal: Terminal): Promise<void> {
  const app = await loadAppModule(parts.appModule)
  const bringUpToDate = async (url: string) => {
    await app.requireOwn(config, url)
    await app.migrate(url, terminal.out)
  }
  await withDatabase(config, terminal, bringUpToDate, { mayCreate: true })
  terminal.out('The database is up to date.')
}

async function adopt(config: Config, parts: Parts, terminal: Terminal): Promise<void> {
  const app = await loadAppModule(parts.appModule)
  const id = await withDatabaseAlone(config, terminal, async (url) => {
    await app.migrate(url, terminal.out)
    return app.adopt(config, url)
  })
  terminal.out(`The database and the data folder now belong together, as installation ${id}.`)
}

async function createToken(values: Values, config: Config, parts: Parts, terminal: Terminal): Promise<void> {
  const { user, scopes, name = 'made on the command line', 'expires-at': expiresOn } = values
  if (user === undefined) throw new UsageError('The option --user NAME is required.')
  const list = scopes?.split(',').map((scope) => scope.trim())
  if (list === undefined || list.includes(''))
    throw new UsageError('The option --scopes is required, for example --scopes api,read_user.')
  if (expiresOn !== undefined && !isDate(expiresOn)) throw new UsageError('--expires-at takes a date like 2027-01-31.')
  if (expiresOn !== undefined && Date.parse(expiresOn) <= wallClockMs())
    throw new UsageError('--expires-at must be after today (UTC): a token expires when its day begins.')

  const app = await loadAppModule(parts.appModule)
  const request = { username: user, scopes: list, name, ...(expiresOn !== undefined && { expiresOn }) }
  const token = await withServices(config, parts, terminal, (services) =>
    app.createToken(config, services, request),
  ).catch((error: unknown) => {
    throw error instanceof Failure && error.kind === 'invalid' ? new UsageError(`${error.message}.`) : error
  })
  terminal.out(token)
}

async function listUsers(config: Config, parts: Parts, terminal: Terminal): Promise<void> {
  const app = await loadAppModule(parts.appModule)
  await withDatabase(config, terminal, (url) => app.listUsers(url, terminal.out))
}

async function changeUser(
  action: UserAction,
  { user }: Values,
  config: Config,
  parts: Parts,
  terminal: Terminal,
): Promise<void> {
  if (user === undefined) throw new UsageError('The option --user NAME is required.')
  const app = await loadAppModule(parts.appModule)
  const lines = await withServices(config, parts, terminal, (services) =>
    app.changeUser(config, services, user, action),
  )
  lines.forEach(terminal.out)
}

async function rotateSecrets(config: Config, parts: Parts, terminal: Terminal): Promise<void> {
  const app = await loadAppModule(parts.appModule)
  const count = await withDatabaseAlone(config, terminal, (url) => app.rotateSecrets(config, url))
  terminal.out(
    `${counted(count, 'secret')} ${count === 1 ? 'is' : 'are'} encrypted with a new key; back up secrets.keys with the database from now on.`,
  )
}

async function moveBlobs(
  { to, 'skip-damaged': skipDamaged = false }: Values,
  config: Config,
  parts: Parts,
  terminal: Terminal,
): Promise<number> {
  if (to === undefined) throw new UsageError('The option --to URL is required, for example --to s3://bucket/stithy.')
  const url = parseBlobUrl(to)
  if (Array.isArray(url)) throw new UsageError(`--to ${url.join(' ')}.`)
  const app = await loadAppModule(parts.appModule)
  const { from, copied, copiedBytes, problems, complete } = await withDatabase(config, terminal, (databaseUrl) =>
    app.moveBlobs(config, databaseUrl, { to: url, skipDamaged }, terminal.err),
  )
  for (const problem of problems) terminal.err(problem)
  const amount = `${counted(copied, 'blob')} (${inMegabytes(copiedBytes)}) ${copied === 1 ? 'was' : 'were'} copied`
  if (!complete) {
    terminal.err(`${amount}. The move is not complete: restore these blobs, or repeat the command with --skip-damaged.`)
    return 1
  }
  terminal.out(`${amount}. Blobs are now in ${url}.`)
  terminal.out(`Set STITHY_BLOB_URL=${url} before the next start. ${from} is no longer used, and still has its copies.`)
  return 0
}

async function check(
  { 'read-blobs': readsBlobs = false }: Values,
  config: Config,
  parts: Parts,
  terminal: Terminal,
): Promise<number> {
  const app = await loadAppModule(parts.appModule)
  const problems = await withServices(config, parts, terminal, (services) =>
    app.checkData(config, services, { readsBlobs }, terminal.err),
  )
  for (const problem of problems) terminal.err(problem)
  const count = problems.length
  terminal.out(count === 0 ? 'No problems found.' : `${counted(count, 'problem')}.`)
  return count === 0 ? 0 : 1
}

function isDate(text: string): boolean {
  const instant = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  // `Date` parses February 30th as March 2nd.
  return !Number.isNaN(instant) && new Date(instant).toISOString().startsWith(text)
}

function version(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
