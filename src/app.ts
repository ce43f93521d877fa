import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Caller, originOf } from './access/actor.ts'
import { shareKeyOf } from './access/share-key.ts'
import type { Ctx, OfRequest } from './api/ctx.ts'
import { RecordTexts } from './api/record-texts.ts'
import { siteAt, withCloneUrl } from './api/site.ts'
import { readLastBackup } from './backup/last-backup.ts'
import { type DownloadLimits, Downloads } from './blobs/downloads.ts'
import { LocatedBlobs } from './blobs/located.ts'
import { canFollow, isS3 } from './blobs/location.ts'
import { type Config, mailsDir, registryDir, sharedFetchesDir, uploadsDir } from './config.ts'
import { openDatabase } from './db/database.ts'
import { Notifications } from './db/notifications.ts'
import type { SshLimits } from './edges/git-ssh/limits.ts'
import type { SshServer } from './edges/git-ssh/server.ts'
import { AbandonedRequests } from './edges/http/abandoned-requests.ts'
import type { HttpContext } from './edges/http/context.ts'
import { type HttpLimits, httpLimits } from './edges/http/limits.ts'
import { measureBackups, measureDisk, measurePools, observeBuild } from './edges/http/metrics.ts'
import { reactBy } from './events/reaction.ts'
import { Git } from './git/git.ts'
import { Runner } from './git/runner/client.ts'
import { defaultTimeouts, type Timeouts } from './git/runner/timeouts.ts'
import type { FetchSharingOptions } from './git/sharing/fetch-sharing.ts'
import type { HttpServer } from './http.ts'
import { observeJobs } from './jobs/queue-state.ts'
import type { JobRunner, RunnerTimes } from './jobs/runner.ts'
import { Activity } from './kernel/activity.ts'
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
import { Dispatcher, type HookTimes } from './modules/integrations/index.ts'
import { jobs } from './modules/jobs.ts'
import { observeLostAndFound } from './modules/projects/index.ts'
import { recoverPushes } from './modules/pushes/index.ts'
import { recoverMerges } from './modules/review/index.ts'
import { assetProxyOf, markdownBy } from './modules/text/index.ts'
import type { App as ServedApp, Services } from './processes/app-module.ts'
import { answersToPush, reactions } from './reactions.ts'
import type { Settings } from './settings/settings.ts'
import { SettingsStore } from './settings/store.ts'

/** Parts that tests replace. */
export type Overrides = Pick<HttpContext, 'onAnswer'> & {
  readonly httpLimits?: Partial<HttpLimits>
  readonly sshLimits?: Partial<SshLimits>
  readonly downloadLimits?: Partial<DownloadLimits>
  readonly mailer?: Mailer
  /** How equal fetches share a response. */
  readonly sharing?: Partial<FetchSharingOptions>
  /** Time in milliseconds after which a full lane of git processes or pool of connections makes readiness fail. */
  readonly stuckAfterMs?: number
  /** Measures the age of cached tokens, in milliseconds. */
  readonly tokenClock?: () => number
  readonly jobTimes?: RunnerTimes
  readonly markdownLimits?: Partial<PoolLimits>
  readonly hookTimes?: HookTimes
}

/** The service in one process. */
export interface App extends ServedApp {
  /** Opens a context without a request: for jobs, commands and tests. */
  open(caller: Caller): Promise<Ctx>
  readonly blobs: LocatedBlobs
  /** Ends what `runJobs` began, when running jobs have ended or are handed back. Does nothing if no jobs are taken. */
  stopJobs(): Promise<void>
}

/** Folder of the repositories; modules/projects/repositories/location.ts describes its layout. */
export const repositoriesDir = ({ dataDir }: Config): string => join(dataDir, 'repositories')

/** File of the keys that encrypt secrets in the database. */
export const secretsFile = ({ dataDir }: Config): string => join(dataDir, 'secrets.keys')

/**
 * How a process divides the memory of its caches. Commit-graphs are besides: git reads those that are too large for their cache, which
 * is slow.
 */
const cacheShares = { objects: 0.56, texts: 0.18, inputTexts: 0.08, rows: 0.18 }

/** The timeouts for requests; background jobs use the defaults. */
const timeoutsOf = (settings: Settings): Timeouts => ({
  processMs: asTimeout(settings.repo_storage_timeout_default),
  quickMs: asTimeout(settings.repo_storage_timeout_medium),
  answerMs: asTimeout(settings.repo_storage_timeout_fast),
})

/** In milliseconds; a longer timer would fire at once. */
const asTimeout = (seconds: number): number => Math.min(seconds * 1000, 2 ** 31 - 1)

/** Jobs and commands serve no HTTP, and workers run no jobs: each starts faster without what it does not need. */
const loadHttp = () => import('./http.ts')
const loadJobs = () => import('./jobs/runner.ts')

/** Loads the code that only this role needs. */
export const preload = async (role: 'worker' | 'jobs'): Promise<void> => {
  await (role === 'worker' ? loadHttp() : loadJobs())
}

/** Builds everything in order; disposing ends it in reverse. The composition root: only here do the parts meet. */
export async function createApp(config: Config, services: Services, overrides: Overrides = {}): Promise<App> {
  await using stack = new AsyncDisposableStack()
  const { log } = stack.use(openLog(config.logLevel))

  const db = stack.use(openDatabase(services.databaseUrl, { cacheBytes: config.cacheBytes * cacheShares.rows }))
  observeJobs(db)
  measureDisk(config.dataDir)
  measureBackups(() => readLastBackup(config.dataDir))
  observeBuild(productVersion)
  observeLostAndFound(repositoriesDir(config))
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

  stack.defer(measurePools({ git: () => runner.loads(), database: async () => db.loads() }))

  const blobs = new LocatedBlobs(db, {
    configured: config.blobUrl,
    notifications,
    mayLink: (link) => config.blobDownloads === 'redirect' && canFollow(new URL(config.externalUrl), link),
  })
  const downloads = new Downloads(overrides.downloadLimits)
  // Otherwise the first request that needs a blob waits for the AWS SDK.
  if (isS3(config.blobUrl)) await import('./blobs/s3.ts')
  const { smtpUrl, from } = config.mail
  const quiet = isQuiet(config.dataDir)
  const texts = new RecordTexts(config.cacheBytes * cacheShares.texts)
  const inputTexts = new RecordTexts(config.cacheBytes * cacheShares.inputTexts)
  const site = siteAt(config.externalUrl, config.sshPort)
  const registry = {
    host: config.registryUrl === undefined ? undefined : new URL(config.registryUrl).host,
    folder: registryDir(config),
  }
  const mailer =
    overrides.mailer ??
    (smtpUrl === undefined || quiet ? new FileMailer(mailsDir(config), log) : new SmtpMailer(smtpUrl, from, site.host))
  await mkdir(uploadsDir(config), { recursive: true })
  const secrets = openSecrets(secretsFile(config))
  const renderer = stack.use(
    new MarkdownRenderer(overrides.markdownLimits, (reason) =>
      log.warn({ reason }, 'a text was not rendered as Markdown'),
    ),
  )
  // Read once: a change of the proxy takes effect at the next start.
  const assetProxy = assetProxyOf({ settings: await settings.get(), secrets, site, log })
  const markdown = markdownBy(renderer, assetProxy)

  const react = reactBy(reactions)
  const contextOf = (
    now: Settings,
    caller: Caller,
    remoteAddress?: string,
    { signal, snapshot, userAgent, eventSource }: OfRequest = {},
  ): Ctx => ({
    actor: caller,
    db: db.for(shareKeyOf(caller, remoteAddress), { signal, snapshot }),
    transaction: (work) => {
      const share = shareKeyOf(caller, remoteAddress)
      return db.transaction(
        (tx) => work({ ...tx, origin: originOf(caller, remoteAddress), share, react, notifications }),
        share,
      )
    },
    git,
    blobs: downloads.of(blobs, shareKeyOf(caller, remoteAddress), signal),
    mailer,
    repositoriesDir: repositoriesDir(config),
    settings: now,
    site: withCloneUrl(site, now.custom_http_clone_url_root),
    registry,
    plan: config.plan,
    impersonation: config.impersonation,
    texts,
    inputTexts,
    markdown,
    secrets,
    log,
    remoteAddress,
    shareKey: shareKeyOf(caller, remoteAddress),
    userAgent,
    eventSource,
    signal,
  })
  const open = async (caller: Caller, remoteAddress?: string, request?: OfRequest): Promise<Ctx> =>
    contextOf(await settings.get(), caller, remoteAddress, request)

  const activity = new Activity()
  const limits: HttpLimits = { ...httpLimits, ...overrides.httpLimits }
  const context: HttpContext = {
    db,
    settings,
    authenticator,
    plan: config.plan,
    siteUrl: site.url,
    uploadsDir: uploadsDir(config),
    registry,
    log,
    abandoned: new AbandonedRequests(limits.abandoned),
    activity,
    answersToPush,
    open,
    ...overrides,
  }
  let http: HttpServer | undefined
  stack.defer(() => http?.close())

  let ssh: SshServer | undefined
  let jobRunner: JobRunner | undefined
  let hooks: Dispatcher | undefined
  notifications.onChange((topic) => {
    if (topic === 'hooks' || topic === undefined) hooks?.wake()
  })
  const stopJobs = async () => {
    const [running, sending] = [jobRunner, hooks]
    jobRunner = undefined
    hooks = undefined
    await Promise.all([running?.stop(), sending?.stop()])
  }
  const resources = stack.move()
  return {
    async listen() {
      const { host, port } = config.http
      serves = true
      const shared = services.sharesPorts ? { reusePort: true, exclusive: true } : {}
      const { openHttp } = await loadHttp()
      http = openHttp(context, limits, {
        runner,
        databaseLoads: () => db.loads(),
        blobs,
        dataDir: config.dataDir,
        stuckAfterMs: overrides.stuckAfterMs,
        metrics: services.metrics,
        metricsFrom: config.metricsFrom,
        proxies: config.proxies,
      })
      await http.listen({ host, port, ...shared })
      if (config.sshPort === 0) return
      // SSH may be disabled.
      const [{ SshServer }, { ensureHostKeys }] = await Promise.all([
        import('./edges/git-ssh/server.ts'),
        import('./edges/git-ssh/host-key.ts'),
      ])
      ssh = new SshServer(
        ensureHostKeys(config.dataDir),
        { db, log, activity, answersToPush, open },
        overrides.sshLimits,
      )
      await ssh.listen({ host, port: config.sshPort, ...shared })
    },
    async runJobs(onBroken) {
      const recovered = await recoverPushes(await open(null), 0)
      if (recovered > 0) log.info({ pushes: recovered }, 'settled interrupted pushes')
      await recoverMerges(await open(null), 0)
      const { databaseUrl } = services
      const { startJobs } = await loadJobs()
      const { jobTimes: times } = overrides
      jobRunner = await startJobs({
        ...{ databaseUrl, open: () => open(null), log, activity, onBroken },
        jobs: quiet ? jobs.filter(({ outgoing }) => !outgoing) : jobs,
        ...(times && { times }),
      })
      if (quiet) return
      hooks = new Dispatcher({ open: () => open(null), log, times: overrides.hookTimes })
      hooks.start()
    },
    blobs,
    stopJobs,
    busy: () => activity.busy,
    open: (caller) => open(caller),
    async stop(graceMs) {
      const hurry = setTimeout(() => http?.server.closeAllConnections(), graceMs)
      // `close` closes the connections that are idle now; ones that become idle later must not delay the stop.
      const idle = setInterval(() => http?.server.closeIdleConnections(), 100)
      await Promise.all([http?.close(), ssh?.stop(graceMs), stopJobs()])
      clearInterval(idle)
      clearTimeout(hurry)
      await resources.disposeAsync()
    },
    [Symbol.asyncDispose]: async () => {
      await stopJobs()
      await ssh?.[Symbol.asyncDispose]()
      http?.server.closeAllConnections()
      await resources.disposeAsync()
    },
  }
}
