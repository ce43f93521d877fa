import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Ctx } from './api/ctx.ts'
import { RecordTexts } from './api/record-texts.ts'
import { siteAt } from './api/site.ts'
import { readLastBackup } from './backup/last-backup.ts'
import { type DownloadLimits, Downloads } from './blobs/downloads.ts'
import { LocatedBlobs } from './blobs/located.ts'
import { canFollow, isS3 } from './blobs/location.ts'
import {
  type Config,
  mailsDir,
  registryDir,
  repositoriesDir,
  secretsFile,
  sharedFetchesDir,
  uploadsDir,
} from './config.ts'
import { openDatabase } from './db/database.ts'
import type { Database } from './db/db.ts'
import { Notifications } from './db/notifications.ts'
import { measureBackups, measureDisk, measurePools, observeBuild } from './edges/http/metrics.ts'
import { Git } from './git/git.ts'
import { Runner } from './git/runner/client.ts'
import { defaultTimeouts, type Timeouts } from './git/runner/timeouts.ts'
import type { FetchSharingOptions } from './git/sharing/fetch-sharing.ts'
import { observeJobs } from './jobs/queue-state.ts'
import { openLog } from './kernel/log.ts'
import { isQuiet } from './kernel/quiet.ts'
import { openSecrets } from './kernel/secrets.ts'
import { FileMailer } from './mail/file-mailer.ts'
import type { Mailer } from './mail/mailer.ts'
import { SmtpMailer } from './mail/smtp-mailer.ts'
import type { PoolLimits } from './markdown/pool.ts'
import { MarkdownRenderer } from './markdown/renderer.ts'
import { TokenAuthenticator } from './modules/accounts/index.ts'
import { productVersion } from './modules/instance/index.ts'
import { observeLostAndFound } from './modules/projects/index.ts'
import { assetProxyOf, markdownBy } from './modules/text/index.ts'
import type { Services } from './processes/app-module.ts'
import type { Settings } from './settings/settings.ts'
import { SettingsStore } from './settings/store.ts'

/** Parts that tests replace. */
export type PartOverrides = {
  readonly mailer?: Mailer
  readonly downloadLimits?: Partial<DownloadLimits>
  /** How equal fetches share a response. */
  readonly sharing?: Partial<FetchSharingOptions>
  /** Measures the age of cached tokens, in milliseconds. */
  readonly tokenClock?: () => number
  readonly markdownLimits?: Partial<PoolLimits>
}

/** What all requests, jobs and sessions of a process share. */
export type Parts = Pick<
  Ctx,
  'git' | 'mailer' | 'site' | 'registry' | 'texts' | 'inputTexts' | 'markdown' | 'secrets' | 'log'
> & {
  readonly db: Database
  readonly notifications: Notifications
  readonly settings: SettingsStore
  readonly authenticator: TokenAuthenticator
  readonly runner: Runner
  readonly blobs: LocatedBlobs
  /** Gives each caller a share of the reads of blobs. */
  readonly downloads: Downloads
  /** The installation is a copy: it sends nothing to others. */
  readonly isQuiet: boolean
  /** From now on git has the timeouts for requests, which administrators set; background jobs have the defaults. */
  serve(): void
}

/**
 * How a process divides the memory of its caches. Commit-graphs are besides: git reads those that are too large for their cache, which
 * is slow.
 */
const cacheShares = { objects: 0.56, texts: 0.18, inputTexts: 0.08, rows: 0.18 }

const timeoutsOf = (settings: Settings): Timeouts => ({
  processMs: asTimeout(settings.repo_storage_timeout_default),
  quickMs: asTimeout(settings.repo_storage_timeout_medium),
  answerMs: asTimeout(settings.repo_storage_timeout_fast),
})

/** In milliseconds; a longer timer would fire at once. */
const asTimeout = (seconds: number): number => Math.min(seconds * 1000, 2 ** 31 - 1)

/** Opens the parts in order; `stack` ends them in reverse. */
export async function openParts(
  config: Config,
  services: Services,
  overrides: PartOverrides,
  stack: AsyncDisposableStack,
): Promise<Parts> {
  const { log } = stack.use(openLog(config.logLevel))
  const db = stack.use(openDatabase(services.databaseUrl, { cacheBytes: config.cacheBytes * cacheShares.rows }))
  const notifications = stack.use(new Notifications(services.databaseUrl))
  const settings = new SettingsStore(db, notifications, config.plan)
  const authenticator = new TokenAuthenticator(db, notifications, config, overrides.tokenClock)
  await notifications.connect()

  const runner = stack.use(await Runner.connect(services.runnerSocket))
  let serves = false
  const sharedFetches = sharedFetchesDir(config)
  await mkdir(sharedFetches, { recursive: true })
  const git = stack.use(
    new Git(runner, {
      timeouts: () => (serves ? timeoutsOf(settings.latest) : defaultTimeouts),
      cacheBytes: config.cacheBytes * cacheShares.objects,
      sharing: { folder: sharedFetches, sockets: dirname(services.runnerSocket), ...overrides.sharing },
    }),
  )
  observe(config, db)
  stack.defer(measurePools({ git: () => runner.loads(), database: async () => db.loads() }))

  const blobs = new LocatedBlobs(db, {
    configured: config.blobUrl,
    notifications,
    mayLink: (link) => config.blobDownloads === 'redirect' && canFollow(new URL(config.externalUrl), link),
  })
  // Otherwise the first request that needs a blob waits for the AWS SDK.
  if (isS3(config.blobUrl)) await import('./blobs/s3.ts')
  await mkdir(uploadsDir(config), { recursive: true })
  const site = siteAt(config.externalUrl, config.sshPort)
  const secrets = openSecrets(secretsFile(config))
  const renderer = stack.use(
    new MarkdownRenderer(overrides.markdownLimits, (reason) =>
      log.warn({ reason }, 'a text was not rendered as Markdown'),
    ),
  )
  // Read once: a change of the proxy takes effect at the next start.
  const assetProxy = assetProxyOf({ settings: await settings.get(), secrets, site, log })
  const quiet = isQuiet(config.dataDir)
  return {
    log,
    db,
    notifications,
    settings,
    authenticator,
    runner,
    git,
    blobs,
    downloads: new Downloads(overrides.downloadLimits),
    mailer: overrides.mailer ?? openMailer(config, { quiet, site, log }),
    site,
    registry: {
      host: config.registryUrl === undefined ? undefined : new URL(config.registryUrl).host,
      folder: registryDir(config),
    },
    texts: new RecordTexts(config.cacheBytes * cacheShares.texts),
    inputTexts: new RecordTexts(config.cacheBytes * cacheShares.inputTexts),
    markdown: markdownBy(renderer, assetProxy),
    secrets,
    isQuiet: quiet,
    serve: () => {
      serves = true
    },
  }
}

function observe(config: Config, db: Database): void {
  observeJobs(db)
  measureDisk(config.dataDir)
  measureBackups(() => readLastBackup(config.dataDir, config.backup.url))
  observeBuild(productVersion)
  observeLostAndFound(repositoriesDir(config))
}

function openMailer(config: Config, { quiet, site, log }: Pick<Ctx, 'site' | 'log'> & { readonly quiet: boolean }) {
  const { smtpUrl, from } = config.mail
  return smtpUrl === undefined || quiet
    ? new FileMailer(mailsDir(config), log)
    : new SmtpMailer(smtpUrl, from, site.host)
}
