import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { constants, hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isUsualPlace, type LastBackup, lastBackupFile, readLastBackup } from '../backup/last-backup.ts'
import { storeName } from '../blobs/location.ts'
import { type Config, parseConfig } from '../config.ts'
import { endEmbedded, startEmbedded } from '../db/embedded/start.ts'
import { counted, inMegabytes } from '../kernel/amounts.ts'
import { syncFolderNow } from '../kernel/durable.ts'
import { Failure } from '../kernel/failure.ts'
import { isThere } from '../kernel/missing.ts'
import { lowerPriority } from '../kernel/priority.ts'
import { writePrivateFile } from '../kernel/private-file.ts'
import { parseBlobUrl } from '../setting-texts.ts'
import { type AppModule, type BackupFacts, type BackupPlace, loadAppModule, type ProcessName } from './app-module.ts'
import { isInstalled } from './credentials.ts'
import { DataDirInUse, lockDataDir, unfinishedRestoreFile } from './data-dir.ts'
import { explainFullDisk, requireRoom } from './disk-room.ts'
import { explain, systemReason } from './explain.ts'
import type { Parts } from './parts.ts'
import { identityOf } from './process-identity.ts'
import { requireDatabase } from './requirements.ts'
import type { Terminal } from './terminal.ts'
import { UsageError } from './usage-error.ts'
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
    throw new UsageError(
      `Where are the backups? Use ${option} FOLDER, ${option} s3://bucket/prefix, or STITHY_BACKUP_URL.`,
    )
  if (Array.isArray(url)) throw new UsageError(`${option} ${url.join(' ')}.`)
  if (url.startsWith(`${pathToFileURL(config.dataDir).href}/`))
    throw new UsageError('Backups in the data folder would be lost with it: use another folder.')
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

const described = ({ repositories, blobs, rows, bytes }: BackupFacts): string =>
  `${counted(rows, 'row')}, ${counted(repositories, 'repository', 'repositories')} and ${counted(blobs, 'blob')} (${inMegabytes(bytes)})`

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
  lowerPriority(process.pid, constants.priority.PRIORITY_BELOW_NORMAL)
  const { progress, end } = progressOn(terminal)
  const request = { ...place, full: options.full ?? false, holder: processName() }
  const began = performance.now()
  const { made, removed } = await withDatabase(config, terminal, (databaseUrl) =>
    app.backup(config, databaseUrl, request, progress),
  )
    .catch(async (error: unknown) => {
      if (isInstalled(config.dataDir))
        await record(config, terminal, place, { result: 'failed', reason: explain(error).sentence })
      throw error
    })
    .finally(end)
  await record(config, terminal, place, {
    result: made.problems.length === 0 ? 'succeeded' : 'with_problems',
    success: {
      id: made.id,
      ended_at: new Date().toISOString(),
      seconds: (performance.now() - began) / 1000,
      bytes: made.bytes,
      stored_bytes: made.storedBytes,
      problems: made.problems.length,
    },
  })
  for (const problem of made.problems) terminal.err(problem)
  terminal.out(`Backup ${made.id}: ${described(made)}; ${inMegabytes(made.storedBytes)} were new.`)
  if (removed > 0) terminal.out(`${counted(removed, 'old backup was', 'old backups were')} removed.`)
  return problemsCode(made.problems, terminal)
}

/** Records how a backup to the usual place ended, for metrics and `stithy doctor`. A backup is complete without it. */
async function record(
  { dataDir, backup: { url } }: Config,
  { err }: Terminal,
  to: BackupPlace,
  ended: Omit<LastBackup, 'place' | 'ended_at'>,
): Promise<void> {
  const before = await readLastBackup(dataDir, url)
  const place = storeName(to.url)
  if (!isUsualPlace(place, url, before)) return
  const success = ended.success ?? before?.success
  const last: LastBackup = { ...ended, place, ended_at: new Date().toISOString(), ...(success && { success }) }
  try {
    writePrivateFile(lastBackupFile(dataDir), `${JSON.stringify(last)}\n`)
  } catch (error) {
    err(`The result of the backup could not be recorded in the data folder: ${systemReason(error)}.`)
  }
}

function problemsCode({ length }: readonly string[], { err }: Terminal): number {
  if (length > 0) err(`${counted(length, 'problem')}.`)
  return length === 0 ? 0 : 1
}

/** `stithy backup list`. */
export async function listBackups(
  options: BackupOptions,
  config: Config,
  parts: Parts,
  terminal: Terminal,
): Promise<number> {
  const place = placeOf(config, '--from', options)
  const app = await loadAppModule(parts.appModule)
  const { backups, problems } = await app.listBackups(place)
  for (const made of backups)
    terminal.out(`${made.id}\t${made.moment}\t${described(made)}\t${counted(made.problems.length, 'problem')}`)
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
  const place = placeOf(config, '--from', options)
  const app = await loadAppModule(parts.appModule)
  const { progress, end } = progressOn(terminal)
  const { problems, leftOut, backups, bytes } = await app.verifyBackups(place, options.at, progress).finally(end)
  for (const sentence of [...problems, ...leftOut]) terminal.err(sentence)
  terminal.out(
    `${counted(backups, 'backup')} verified (${inMegabytes(bytes)}), ${counted(problems.length, 'problem')}.`,
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
  const { id, bytes } = await app.findBackup(place, options.at)
  const request = { ...place, id, quiet: options.quiet ?? false }
  // Elsewhere, the database or the blobs may have most of it.
  const inOneFolder =
    target.database.kind === 'embedded' && target.blobUrl.startsWith(`${pathToFileURL(target.dataDir).href}/`)
  const { made, leftOut } = await intoEmptyFolder(target, terminal, inOneFolder ? bytes : 0, (databaseUrl) =>
    app.restore(target, databaseUrl, request, progress),
  )
    .catch(async (error: unknown) => {
      throw await explainFullDisk(error, target.dataDir)
    })
    .finally(end)
  terminal.out(`Backup ${made.id} of ${made.moment} is restored in ${target.dataDir}: ${described(made)}.`)
  for (const sentence of leftOut) terminal.err(sentence)
  for (const problem of made.problems) terminal.err(`When the backup was made: ${problem}`)
  terminal.out('Comparing database, repositories and blobs (stithy check).')
  return check(app, target, parts, terminal)
}

async function check(app: AppModule, config: Config, parts: Parts, terminal: Terminal): Promise<number> {
  const { progress, end } = progressOn(terminal)
  const problems = await withServices(config, parts, terminal, (services) =>
    app.checkData(config, services, { readsBlobs: false }, progress),
  ).finally(end)
  for (const problem of problems) terminal.err(problem)
  terminal.out(problems.length === 0 ? 'No problems found.' : `${counted(problems.length, 'problem')}.`)
  return problems.length === 0 ? 0 : 1
}

/** Whether a restore may ignore an entry of an empty data folder. A killed one may leave its mark under the name it has until it is written. */
const isNoData = (name: string): boolean =>
  name === 'lost+found' || /^(lock(\..+)?|unfinished-restore\.\d+)$/.test(name)

/**
 * Runs `work` with the database of a data folder that is empty, or that an earlier restore has left unfinished, and has room for
 * these bytes. Until it ends successfully, nothing starts in this folder.
 */
async function intoEmptyFolder<T>(
  { dataDir, database }: Config,
  terminal: Terminal,
  bytes: number,
  work: (databaseUrl: string) => Promise<T>,
): Promise<T> {
  using _lock = await lockDataDir(dataDir, { toRestore: true }).catch((error: unknown) => {
    if (!(error instanceof DataDirInUse && isThere(unfinishedRestoreFile(dataDir)))) throw error
    throw new Failure(
      'conflict',
      `Another restore into ${dataDir} is running (process ${error.pid}): wait until it has ended.`,
    )
  })
  const mark = unfinishedRestoreFile(dataDir)
  const entries = readdirSync(dataDir).filter((name) => !isNoData(name))
  if (entries.length > 0 && !isThere(mark))
    throw new Failure('conflict', `The data folder ${dataDir} is not empty: use --into with an empty or new folder.`)
  writePrivateFile(mark, 'A backup is being restored here.\n')
  // It would write while its files are being removed.
  if (database.kind === 'embedded') await endEmbedded(dataDir)
  for (const name of entries)
    if (join(dataDir, name) !== mark) await rm(join(dataDir, name), { recursive: true, force: true })
  await requireRoom(dataDir, bytes)
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
