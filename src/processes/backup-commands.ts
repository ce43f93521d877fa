import { existsSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { hostname, setPriority } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Config, parseBlobUrl, parseConfig } from '../config.ts'
import { startEmbedded } from '../db/embedded/start.ts'
import { syncFolderNow } from '../kernel/durable.ts'
import { Failure } from '../kernel/failure.ts'
import { type AppModule, type BackupFacts, type BackupPlace, loadAppModule, type ProcessName } from './app-module.ts'
import { lockDataDir, unfinishedRestoreFile, writePrivateFile } from './data-dir.ts'
import type { Parts } from './parts.ts'
import { identityOf } from './process-identity.ts'
import { requireDatabase } from './requirements.ts'
import type { Terminal } from './terminal.ts'
import { withDatabase, withServices } from './with-services.ts'

/** Options as the command line has them. */
export type BackupOptions = {
  readonly to?: string | undefined
  readonly from?: string | undefined
  readonly 'key-file'?: string | undefined
  readonly full?: boolean | undefined
  readonly at?: string | undefined
  readonly into?: string | undefined
  readonly quiet?: boolean | undefined
}

/** The place of the backups: of an option, or of the settings. */
function placeOf(
  config: Config,
  option: '--to' | '--from',
  { to, from, 'key-file': keyFile }: BackupOptions,
): BackupPlace {
  const text = to ?? from
  const url = text === undefined ? config.backup.url : parseBlobUrl(text)
  if (url === undefined)
    throw new Failure(
      'invalid',
      `Where are the backups? Use ${option} FOLDER, ${option} s3://bucket/prefix, or STITHY_BACKUP_URL.`,
    )
  if (Array.isArray(url)) throw new Failure('invalid', `${option} ${url.join(' ')}.`)
  if (url.startsWith(`${pathToFileURL(config.dataDir).href}/`))
    throw new Failure('invalid', 'Backups in the data folder would be lost with it: use another folder.')
  return { url, keyFile: keyFile === undefined ? config.backup.keyFile : resolve(keyFile) }
}

/** Progress on one line of a terminal, with its end; elsewhere none. */
function progressOn({ status }: Terminal): { progress: (line: string) => void; end: () => void } {
  return { progress: (line) => status?.(line), end: () => status?.('') }
}

/** This process, for others that use the same backups, also on other machines. */
function processName(): ProcessName {
  const machine = hostname().replace(/\s/g, '_')
  const nameOf = (pid: number) => `${machine} ${pid} ${identityOf(pid)}`
  return {
    name: nameOf(process.pid),
    isGone: (name) => {
      const [, where, pid] = /^(\S+) (\d+) /.exec(name) ?? []
      return where === machine && nameOf(Number(pid)) !== name
    },
  }
}

/** Lower than the priority of the service. */
const priority = 10

/** Lets the service have the processor first. */
function giveWay(): void {
  try {
    setPriority(priority)
  } catch {
    // It is lower already.
  }
}

const inMegabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

const described = ({ repositories, blobs, rows, bytes }: BackupFacts): string =>
  `${rows} rows, ${repositories} repositories and ${blobs} blobs (${inMegabytes(bytes)})`

/** `stithy backup`. Returns the exit code. */
export async function backup(
  options: BackupOptions,
  config: Config,
  parts: Parts,
  terminal: Terminal,
): Promise<number> {
  const place = placeOf(config, '--to', options)
  const app = await loadAppModule(parts.appModule)
  if (place.keyFile === undefined)
    terminal.err(
      'The backup is not encrypted, and contains the keys of all secrets. STITHY_BACKUP_KEY_FILE encrypts it.',
    )
  giveWay()
  const { progress, end } = progressOn(terminal)
  const request = { ...place, full: options.full ?? false, holder: processName() }
  const { made, removed } = await withDatabase(config, terminal, (databaseUrl) =>
    app.backup(config, databaseUrl, request, progress),
  ).finally(end)
  for (const problem of made.problems) terminal.err(problem)
  terminal.out(`Backup ${made.id}: ${described(made)}; ${inMegabytes(made.storedBytes)} were new.`)
  if (removed > 0) terminal.out(`${removed} old ${removed === 1 ? 'backup was' : 'backups were'} removed.`)
  return problemsCode(made.problems, terminal)
}

function problemsCode({ length }: readonly string[], { err }: Terminal): number {
  if (length > 0) err(`${length} ${length === 1 ? 'problem' : 'problems'}.`)
  return length === 0 ? 0 : 1
}

/** `stithy backup list`. */
export async function listBackups(
  options: BackupOptions,
  config: Config,
  parts: Parts,
  terminal: Terminal,
): Promise<number> {
  const app = await loadAppModule(parts.appModule)
  const { backups, problems } = await app.listBackups(placeOf(config, '--from', options))
  for (const made of backups)
    terminal.out(`${made.id}\t${made.moment}\t${described(made)}\t${made.problems.length} problems`)
  for (const problem of problems) terminal.err(problem)
  return problemsCode(problems, terminal)
}

/** `stithy backup verify`. */
export async function verifyBackups(
  options: BackupOptions,
  config: Config,
  parts: Parts,
  terminal: Terminal,
): Promise<number> {
  const app = await loadAppModule(parts.appModule)
  const { progress, end } = progressOn(terminal)
  const place = placeOf(config, '--from', options)
  const { problems, backups, bytes } = await app.verifyBackups(place, options.at, progress).finally(end)
  for (const problem of problems) terminal.err(problem)
  terminal.out(
    `${backups} ${backups === 1 ? 'backup' : 'backups'} verified (${inMegabytes(bytes)}), ${problems.length} problems.`,
  )
  return problems.length === 0 ? 0 : 1
}

/** `stithy restore`. */
export async function restore(
  options: BackupOptions,
  config: Config,
  parts: Parts,
  terminal: Terminal,
): Promise<number> {
  const place = placeOf(config, '--from', options)
  // Blobs are in the data folder, unless a setting says otherwise.
  const target =
    options.into === undefined ? config : parseConfig({ ...process.env, STITHY_DATA_DIR: resolve(options.into) })
  const app = await loadAppModule(parts.appModule)
  const { progress, end } = progressOn(terminal)
  // A wrong key or id changes nothing.
  const { id } = await app.findBackup(place, options.at)
  const request = { ...place, id, quiet: options.quiet ?? false }
  const made = await intoEmptyFolder(target, terminal, (databaseUrl) =>
    app.restore(target, databaseUrl, request, progress),
  ).finally(end)
  terminal.out(`Backup ${made.id} of ${made.moment} is restored in ${target.dataDir}: ${described(made)}.`)
  for (const problem of made.problems) terminal.err(`When the backup was made: ${problem}`)
  terminal.out('Comparing database, repositories and blobs (stithy check).')
  return check(app, target, parts, terminal)
}

async function check(app: AppModule, config: Config, parts: Parts, terminal: Terminal): Promise<number> {
  const { progress, end } = progressOn(terminal)
  const problems = await withServices(config, parts, terminal, (services) =>
    app.checkData(config, services, progress),
  ).finally(end)
  for (const problem of problems) terminal.err(problem)
  terminal.out(problems.length === 0 ? 'No problems found.' : `${problems.length} problems.`)
  return problems.length === 0 ? 0 : 1
}

/** Whether a restore may ignore an entry of an empty data folder. */
const isNoData = (name: string): boolean => name === 'lost+found' || /^lock(\.|$)/.test(name)

/**
 * Runs `work` with the database of a data folder that is empty, or that an earlier restore has left unfinished. Until it ends
 * successfully, nothing starts in this folder.
 */
async function intoEmptyFolder<T>(
  { dataDir, database }: Config,
  terminal: Terminal,
  work: (databaseUrl: string) => Promise<T>,
): Promise<T> {
  using _lock = await lockDataDir(dataDir, { toRestore: true })
  const mark = unfinishedRestoreFile(dataDir)
  const entries = readdirSync(dataDir).filter((name) => !isNoData(name))
  if (entries.length > 0 && !existsSync(mark))
    throw new Failure('conflict', `The data folder ${dataDir} is not empty: use --into with an empty or new folder.`)
  writePrivateFile(mark, 'A backup is being restored here.\n')
  for (const name of entries)
    if (join(dataDir, name) !== mark) await rm(join(dataDir, name), { recursive: true, force: true })
  const result = await (async () => {
    if (database.kind === 'external') {
      await requireDatabase(database.url)
      return await work(database.url)
    }
    await using embedded = await startEmbedded({ dataDir, log: terminal.err })
    return await work(embedded.url)
  })()
  await rm(mark)
  syncFolderNow(dataDir)
  return result
}
