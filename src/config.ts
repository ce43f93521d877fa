import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Environment } from './environment.ts'
import { type Plan, plans } from './kernel/plan.ts'
import {
  type DatabasePlace,
  type KeptBackups,
  parseBlobUrl,
  parseDatabaseUrl,
  parseExternalUrl,
  parseHost,
  parseKeep,
  parseNetworks,
  parseRegistryUrl,
  parseSender,
  parseSmtpUrl,
  parseTimes,
} from './setting-texts.ts'

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** All settings of the environment, validated and with defaults. Plain data: it is sent to child processes as JSON. */
export type Config = Readonly<{
  /** Absolute path of the data folder. */
  dataDir: string
  http: Readonly<{ host: string; port: number }>
  /** 0 if Git over SSH is disabled. */
  sshPort: number
  /** Base of every URL in output; without a trailing slash. */
  externalUrl: string
  database: DatabasePlace
  /** Location of blobs, always a URL: `file:///srv/stithy/blobs`, or `s3://bucket/prefix` (blobs/location.ts). */
  blobUrl: string
  /** Origin at which clients reach the container registry; undefined if it is off. */
  registryUrl: string | undefined
  /** Whether clients that download from object storage are redirected to it, or get the bytes from the service. */
  blobDownloads: 'redirect' | 'proxy'
  /** Number of HTTP worker processes. */
  processes: number
  /** Maximum bytes that an HTTP worker caches. */
  cacheBytes: number
  plan: Plan
  /** Credentials of the first administrator; random if absent. */
  root: Readonly<{ password?: string; token?: string }>
  /** Without a server, mails are written to files in the data folder. `from` may be `Name <address>`. */
  mail: Readonly<{ smtpUrl?: string; from: string }>
  /** Whether administrators can impersonate users with tokens. */
  impersonation: boolean
  /** Addresses and networks (`10.0.0.0/8`) that may read the metrics without a token. */
  metricsFrom: readonly string[]
  /** Addresses and networks of proxies elsewhere whose `X-Forwarded-…` are believed; those on this machine always are. */
  proxies: readonly string[]
  logLevel: LogLevel
  backup: BackupConfig
}>

export type BackupConfig = Readonly<{
  /** Where backups are, as a URL like `blobUrl`; undefined if no place is set. */
  url: string | undefined
  /** Times of day, in minutes after midnight (UTC), at which the service makes a backup. */
  at: readonly number[]
  /** Undefined: all are kept. */
  keep: KeptBackups | undefined
  /** Absolute path of the file with the key; undefined: backups are not encrypted. */
  keyFile: string | undefined
  /** Maximum megabytes that a backup reads in a second. */
  rate: number
}>

/** Folder for uploaded files while requests are handled. */
export const uploadsDir = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'tmp', 'uploads')

/** Folder for responses to fetches that equal fetches share. */
export const sharedFetchesDir = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'tmp', 'fetches')

/** Folder of the container registry: its key, and files of unfinished uploads. */
export const registryDir = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'registry')

/** Folder for mails without a mail server. */
export const mailsDir = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'mails')

/** Folder of the repositories; modules/projects/repositories/location.ts describes its layout. */
export const repositoriesDir = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'repositories')

/** File of the keys that encrypt secrets in the database. */
export const secretsFile = ({ dataDir }: Pick<Config, 'dataDir'>): string => join(dataDir, 'secrets.keys')

const loopback: readonly string[] = ['127.0.0.0/8', '::1']
const rootTokenMinLength = 20
/** The minimum that GitLab requires, too. */
const rootPasswordMinLength = 8
const maxProcesses = 64
/** Memory of caches for each HTTP worker, in MB, if no setting says otherwise. */
const cacheMegabytes = 40
/**
 * Cache of the jobs process, as a part of that of a worker. A job reads what was just written, mostly once; kept longer, trees lie among
 * freed memory, which cannot be returned to the system then: with the cache of a worker the process had 250 MB after 4,500 writes, so 155 MB.
 */
const jobsCacheShare = 1 / 4

/** The configuration for the jobs process, with its own limit of caches. */
export const configForJobs = (config: Config): Config => ({ ...config, cacheBytes: config.cacheBytes * jobsCacheShare })

/**
 * Parses settings from environment variables; empty ones count as absent. Relative paths are relative to `folder`. Throws one
 * ConfigError that lists every mistake.
 */
export function parseConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
  folder: string = process.cwd(),
): Config {
  const read = new Environment(env)
  const dataDir = resolve(folder, read.text('STITHY_DATA_DIR') ?? 'data')
  const http = Object.freeze({
    host: read.parsed('STITHY_HTTP_HOST', '127.0.0.1', parseHost),
    port: read.whole('STITHY_HTTP_PORT', 8080, 1, 65535),
  })
  const sshPort = read.whole('STITHY_SSH_PORT', 2222, 0, 65535)
  if (sshPort === http.port) read.mistake(`STITHY_SSH_PORT must differ from STITHY_HTTP_PORT, and both are ${sshPort}`)
  const externalUrl = read.parsed('STITHY_EXTERNAL_URL', defaultExternalUrl(http), parseExternalUrl)
  const config: Config = Object.freeze({
    dataDir,
    http,
    sshPort,
    externalUrl,
    database: Object.freeze(read.parsed<DatabasePlace>('STITHY_DATABASE_URL', { kind: 'embedded' }, parseDatabaseUrl)),
    blobUrl: read.parsed('STITHY_BLOB_URL', pathToFileURL(join(dataDir, 'blobs')).href, (text) =>
      parseBlobUrl(text, folder),
    ),
    registryUrl: read.parsed<string | undefined>('STITHY_REGISTRY_URL', new URL(externalUrl).origin, parseRegistryUrl),
    blobDownloads: read.oneOf('STITHY_BLOB_DOWNLOADS', 'redirect', ['redirect', 'proxy']),
    ...readSizes(read),
    plan: read.oneOf('STITHY_PLAN', 'ultimate', plans),
    root: readRoot(read),
    mail: readMail(read, externalUrl),
    impersonation: read.oneOf('STITHY_IMPERSONATION', 'on', ['on', 'off']) === 'on',
    metricsFrom: Object.freeze(read.parsed('STITHY_METRICS_FROM', { networks: loopback }, parseNetworks).networks),
    proxies: Object.freeze(read.parsed('STITHY_PROXIES', { networks: [] }, parseNetworks).networks),
    logLevel: read.oneOf('STITHY_LOG_LEVEL', 'info', logLevels),
    backup: readBackup(read, { dataDir, folder }),
  })
  read.requireNoMistake()
  return config
}

function readSizes(read: Environment): Pick<Config, 'processes' | 'cacheBytes'> {
  const processes = read.whole('STITHY_PROCESSES', Math.min(availableParallelism(), 8), 1, maxProcesses)
  const caching = processes + jobsCacheShare
  const megabytes = read.whole('STITHY_CACHE_MB', cacheMegabytes * caching, 16, 1_000_000)
  return { processes, cacheBytes: Math.floor((megabytes * 1024 * 1024) / caching) }
}

function readRoot(read: Environment): Config['root'] {
  const password = read.secret('STITHY_ROOT_PASSWORD', rootPasswordMinLength)
  const token = read.secret('STITHY_ROOT_TOKEN', rootTokenMinLength)
  if (token !== undefined && /[^\x21-\x7e]/.test(token))
    read.mistake('STITHY_ROOT_TOKEN must contain only ASCII, because no header can send other letters')
  return Object.freeze({ ...(password !== undefined && { password }), ...(token !== undefined && { token }) })
}

function readMail(read: Environment, externalUrl: string): Config['mail'] {
  const smtpUrl = read.parsed<string | undefined>('STITHY_SMTP_URL', undefined, parseSmtpUrl)
  return Object.freeze({
    ...(smtpUrl !== undefined && { smtpUrl }),
    from: read.parsed('STITHY_MAIL_FROM', `Stithy <stithy@${new URL(externalUrl).hostname}>`, parseSender),
  })
}

function readBackup(read: Environment, { dataDir, folder }: { dataDir: string; folder: string }): BackupConfig {
  const url = read.parsed<string | undefined>('STITHY_BACKUP_URL', undefined, (text) => parseBlobUrl(text, folder))
  const at = Object.freeze(read.parsed('STITHY_BACKUP_AT', { times: [] }, parseTimes).times)
  if (at.length > 0 && url === undefined)
    read.mistake('STITHY_BACKUP_AT needs STITHY_BACKUP_URL, the place of the backups')
  if (`${url}/`.startsWith(`${pathToFileURL(dataDir).href}/`))
    read.mistake('STITHY_BACKUP_URL must be outside of the data folder, with which the backups would be lost')
  return Object.freeze({
    url,
    at,
    keep: read.parsed<KeptBackups | undefined>('STITHY_BACKUP_KEEP', undefined, parseKeep),
    keyFile: read.parsed<string | undefined>('STITHY_BACKUP_KEY_FILE', undefined, (text) => resolve(folder, text)),
    rate: read.whole('STITHY_BACKUP_RATE', 50, 1, 100_000),
  })
}

/** The wildcard address ("every interface") cannot be visited. */
function defaultExternalUrl({ host, port }: Config['http']): string {
  const visited = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${visited}${port === 80 ? '' : `:${port}`}`
}

/** Sets a variable for every process started from now on, such as Node's own settings, unless the operator has set it. */
export function setForChildrenUnlessSet(name: string, value: string): void {
  process.env[name] ??= value
}

/** Like `setForChildrenUnlessSet`, whatever the operator has set. */
export function setForChildren(name: string, value: string): void {
  process.env[name] = value
}
