import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseS3Url } from './blobs/location.ts'
import { isMailAddress } from './kernel/mail-address.ts'
import { nearestNames } from './kernel/nearest-name.ts'
import { type Plan, plans } from './kernel/plan.ts'
import { withoutTrailing } from './kernel/without-ends.ts'

/** Every environment variable that is a setting. */
const settingNames = [
  'STITHY_DATA_DIR',
  'STITHY_HTTP_HOST',
  'STITHY_HTTP_PORT',
  'STITHY_SSH_PORT',
  'STITHY_EXTERNAL_URL',
  'STITHY_DATABASE_URL',
  'STITHY_BLOB_URL',
  'STITHY_REGISTRY_URL',
  'STITHY_BLOB_DOWNLOADS',
  'STITHY_PROCESSES',
  'STITHY_CACHE_MB',
  'STITHY_PLAN',
  'STITHY_ROOT_PASSWORD',
  'STITHY_ROOT_TOKEN',
  'STITHY_SMTP_URL',
  'STITHY_MAIL_FROM',
  'STITHY_IMPERSONATION',
  'STITHY_METRICS_FROM',
  'STITHY_PROXIES',
  'STITHY_LOG_LEVEL',
  'STITHY_BACKUP_URL',
  'STITHY_BACKUP_AT',
  'STITHY_BACKUP_KEEP',
  'STITHY_BACKUP_KEY_FILE',
  'STITHY_BACKUP_RATE',
] as const
type SettingName = (typeof settingNames)[number]

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
  database: Readonly<{ kind: 'embedded' } | { kind: 'external'; url: string }>
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
  /** How many days, weeks and months have a backup; undefined: all are kept. */
  keep: Readonly<{ days: number; weeks: number; months: number }> | undefined
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

/** Invalid settings. `mistakes` has one sentence per setting; the message lists all. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly mistakes: readonly string[]

  constructor(mistakes: readonly string[]) {
    super(
      mistakes.length === 1
        ? `Invalid setting: ${mistakes[0]}`
        : `${mistakes.length} invalid settings:\n${mistakes.map((mistake) => `  - ${mistake}`).join('\n')}`,
    )
    this.mistakes = mistakes
  }
}

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
  const mistakes = unknownSettings(env)
  const read = (name: SettingName): string | undefined =>
    isOfKubernetes(env, name) ? undefined : env[name]?.trim() || undefined

  /** A mistake yields the default, so that parsing continues and finds the others. */
  const parsed = <T>(name: SettingName, fallback: T, parse: (text: string) => T | string[]): T => {
    const text = read(name)
    if (text === undefined) return fallback
    const value = parse(text)
    if (!Array.isArray(value)) return value
    mistakes.push(`${name} ${value.join(' ')}`)
    return fallback
  }
  const whole = (name: SettingName, fallback: number, least: number, most: number): number =>
    parsed(name, fallback, (text) =>
      /^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most
        ? Number(text)
        : [`must be a whole number from ${least} to ${most}, not "${text}"`],
    )
  const oneOf = <T extends string>(name: SettingName, fallback: T, choices: readonly T[]): T =>
    parsed<T>(
      name,
      fallback,
      (text) => choices.find((choice) => choice === text) ?? [`must be one of ${choices.join(', ')}, not "${text}"`],
    )
  const secret = (name: SettingName, leastLength: number): string | undefined =>
    parsed<string | undefined>(name, undefined, (text) =>
      text.length < leastLength
        ? [`must have at least ${leastLength} characters`]
        : /\s/.test(text)
          ? ['must not contain spaces or line breaks']
          : text,
    )

  const dataDir = resolve(folder, read('STITHY_DATA_DIR') ?? 'data')
  const http = Object.freeze({
    host: parsed('STITHY_HTTP_HOST', '127.0.0.1', parseHost),
    port: whole('STITHY_HTTP_PORT', 8080, 1, 65535),
  })
  const sshPort = whole('STITHY_SSH_PORT', 2222, 0, 65535)
  if (sshPort === http.port) mistakes.push(`STITHY_SSH_PORT must differ from STITHY_HTTP_PORT, and both are ${sshPort}`)

  const password = secret('STITHY_ROOT_PASSWORD', rootPasswordMinLength)
  const token = secret('STITHY_ROOT_TOKEN', rootTokenMinLength)
  if (token !== undefined && /[^\x21-\x7e]/.test(token))
    mistakes.push('STITHY_ROOT_TOKEN must contain only ASCII, because no header can send other letters')

  const externalUrl = parsed('STITHY_EXTERNAL_URL', defaultExternalUrl(http), parseExternalUrl)
  const smtpUrl = parsed<string | undefined>('STITHY_SMTP_URL', undefined, (text) => parseSmtpUrl(text))

  const processes = whole('STITHY_PROCESSES', Math.min(availableParallelism(), 8), 1, maxProcesses)
  const caching = processes + jobsCacheShare
  const cacheBytes = (whole('STITHY_CACHE_MB', cacheMegabytes * caching, 16, 1_000_000) * 1024 * 1024) / caching

  const config: Config = Object.freeze({
    dataDir,
    http,
    sshPort,
    externalUrl,
    database: Object.freeze(
      parsed<Config['database']>('STITHY_DATABASE_URL', { kind: 'embedded' }, (text) => parseDatabaseUrl(text)),
    ),
    blobUrl: parsed('STITHY_BLOB_URL', pathToFileURL(join(dataDir, 'blobs')).href, (text) =>
      parseBlobUrl(text, folder),
    ),
    registryUrl: parsed<string | undefined>('STITHY_REGISTRY_URL', new URL(externalUrl).origin, parseRegistryUrl),
    blobDownloads: oneOf('STITHY_BLOB_DOWNLOADS', 'redirect', ['redirect', 'proxy']),
    processes,
    cacheBytes: Math.floor(cacheBytes),
    plan: oneOf('STITHY_PLAN', 'ultimate', plans),
    root: Object.freeze({ ...(password !== undefined && { password }), ...(token !== undefined && { token }) }),
    mail: Object.freeze({
      ...(smtpUrl !== undefined && { smtpUrl }),
      from: parsed('STITHY_MAIL_FROM', `Stithy <stithy@${new URL(externalUrl).hostname}>`, parseSender),
    }),
    impersonation: oneOf('STITHY_IMPERSONATION', 'on', ['on', 'off']) === 'on',
    metricsFrom: Object.freeze(parsed('STITHY_METRICS_FROM', { networks: loopback }, parseNetworks).networks),
    proxies: Object.freeze(parsed('STITHY_PROXIES', { networks: [] }, parseNetworks).networks),
    logLevel: oneOf('STITHY_LOG_LEVEL', 'info', logLevels),
    backup: Object.freeze({
      url: parsed<string | undefined>('STITHY_BACKUP_URL', undefined, (text) => parseBlobUrl(text, folder)),
      at: Object.freeze(parsed('STITHY_BACKUP_AT', { times: [] }, parseTimes).times),
      keep: parsed<BackupConfig['keep']>('STITHY_BACKUP_KEEP', undefined, parseKeep),
      keyFile: parsed<string | undefined>('STITHY_BACKUP_KEY_FILE', undefined, (text) => resolve(folder, text)),
      rate: whole('STITHY_BACKUP_RATE', 50, 1, 100_000),
    }),
  })
  if (config.backup.at.length > 0 && config.backup.url === undefined)
    mistakes.push('STITHY_BACKUP_AT needs STITHY_BACKUP_URL, the place of the backups')
  if (`${config.backup.url}/`.startsWith(`${pathToFileURL(dataDir).href}/`))
    mistakes.push('STITHY_BACKUP_URL must be outside of the data folder, with which the backups would be lost')
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  return config
}

const isSetting = (name: string): boolean => (settingNames as readonly string[]).includes(name)
/** Variables of the test run, which services that tests start inherit. */
const testVariable = /^STITHY_(TEST|EXAMPLES)_/
/** Kubernetes describes each service of a namespace to its pods in these variables, such as `stithy` and `stithy-ssh`. */
const kubernetesVariable =
  /^(STITHY(?:_[A-Z0-9]+)*?)_(?:SERVICE_(?:HOST|PORT(?:_\w+)?)|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/

/** Whether Kubernetes has set the variable: a setting, such as `STITHY_SSH_PORT`, only if the value is that of a service. */
function isOfKubernetes(env: Readonly<Record<string, string | undefined>>, name: string): boolean {
  const service = kubernetesVariable.exec(name)?.[1]
  const isDescribed = service !== undefined && env[`${service}_SERVICE_HOST`] !== undefined
  return isDescribed && (!isSetting(name) || /^(tcp|udp|sctp):\/\//.test(env[name] ?? ''))
}

/** One sentence for each variable that looks like a setting and is none, so that a misspelt one is not ignored. */
function unknownSettings(env: Readonly<Record<string, string | undefined>>): string[] {
  const isForeign = (name: string) => testVariable.test(name) || isOfKubernetes(env, name)
  return Object.keys(env)
    .filter((name) => /^stithy_/i.test(name) && !isSetting(name) && !isForeign(name))
    .sort()
    .map((name) => `${name} is not a setting: did you mean ${nearestNames(name, settingNames).join(' or ')}?`)
}

function parseHost(text: string): string | string[] {
  const host = text.replace(/^\[(.*)\]$/, '$1')
  return /^[\w.:%-]+$/.test(host) ? host : [`must be an address or a host name, not "${text}"`]
}

/** The wildcard address ("every interface") cannot be visited. */
function defaultExternalUrl({ host, port }: Config['http']): string {
  const visited = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${visited}${port === 80 ? '' : `:${port}`}`
}

function parseExternalUrl(text: string): string | string[] {
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    return [`must be an http or https URL, not "${text}"`]
  }
  if (url.username || url.password || url.search || url.hash) {
    return ['must have no user, password, query or fragment']
  }
  return withoutTrailing(url.origin + url.pathname, '/')
}

/** Clients look for the registry at the root of a host. */
function parseRegistryUrl(text: string): string | undefined | string[] {
  if (text === 'off') return undefined
  const url = URL.parse(text)
  return url !== null && ['http:', 'https:'].includes(url.protocol) && url.href === `${url.origin}/`
    ? url.origin
    : [`must be "off", or an http or https URL without a path, not "${text}"`]
}

/** The text may contain a password, so error messages never repeat it. */
function parseDatabaseUrl(text: string): Config['database'] | string[] {
  // PostgreSQL allows a URL with a user and without a host (a socket); the WHATWG parser does not.
  const url = URL.parse(text.replace('@/', '@localhost/'))
  if (url === null || !['postgres:', 'postgresql:'].includes(url.protocol)) {
    return ['must be a PostgreSQL URL like postgresql://user:password@host:5432/database']
  }
  return { kind: 'external', url: text }
}

/** The text may contain a password, so error messages never repeat it. */
function parseSmtpUrl(text: string): string | string[] {
  const url = URL.parse(text)
  return url !== null && ['smtp:', 'smtps:'].includes(url.protocol) && url.hostname !== ''
    ? text
    : ['must be an SMTP URL like smtps://user:password@host:465']
}

const parseSender = (text: string): string | string[] =>
  isMailAddress(/^[^<>@\p{Cc}]*<(.+)>$/u.exec(text)?.[1] ?? text)
    ? text
    : [`must be an address, or a name and an address like "Stithy <git@example.com>", not "${text}"`]

function parseNetworks(text: string): { networks: readonly string[] } | string[] {
  const networks = text.split(',').map((each) => each.trim())
  const wrong = networks.find((each) => !isNetwork(each))
  return wrong === undefined
    ? { networks }
    : [`must be addresses and networks with commas between them, and "${wrong}" is none`]
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0 || address.includes('%')) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

function parseTimes(text: string): { times: readonly number[] } | string[] {
  const times = text.split(',').map((each) => /^([01]\d|2[0-3]):([0-5]\d)$/.exec(each.trim()))
  return times.every((time) => time !== null)
    ? {
        times: times
          .map(([, hours, minutes]) => Number(hours) * 60 + Number(minutes))
          .sort((one, other) => one - other),
      }
    : [`must be times of day in UTC, such as 02:30 or 02:30,14:30, not "${text}"`]
}

function parseKeep(text: string): BackupConfig['keep'] | string[] {
  const [, days, weeks = '0', months = '0'] = /^(\d{1,4})d(?:(\d{1,4})w)?(?:(\d{1,4})m)?$/.exec(text) ?? []
  return days === undefined
    ? [`must be numbers of days, weeks and months, such as 7d4w12m, not "${text}"`]
    : Object.freeze({ days: Number(days), weeks: Number(weeks), months: Number(months) })
}

/** The URL of a store; what is wrong with it, as the rest of a sentence, in a list. A relative path is relative to `folder`. */
export function parseBlobUrl(text: string, folder: string = process.cwd()): string | string[] {
  // One letter before a colon is a drive, not a scheme.
  const scheme = /^([a-z][a-z\d+.-]+):/i.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined) return pathToFileURL(resolve(folder, text)).href
  if (scheme === 's3') {
    const address = parseS3Url(text)
    return Array.isArray(address) ? address : text
  }
  if (scheme !== 'file') return [`must be a folder, a file: URL or an s3: URL, not a ${scheme}: URL`]
  const url = URL.parse(text)
  if (url === null || url.host !== '' || url.pathname === '/') return ['must name a folder: file:///srv/stithy/blobs']
  return url.href
}

/** Sets a variable for every process started from now on, such as Node's own settings, unless the operator has set it. */
export function setForChildrenUnlessSet(name: string, value: string): void {
  process.env[name] ??= value
}

/** Like `setForChildrenUnlessSet`, whatever the operator has set. */
export function setForChildren(name: string, value: string): void {
  process.env[name] = value
}
