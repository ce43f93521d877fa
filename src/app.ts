import type { Caller } from './access/actor.ts'
import type { Ctx } from './api/ctx.ts'
import type { LocatedBlobs } from './blobs/located.ts'
import { type Config, uploadsDir } from './config.ts'
import { contextsOf, type OpenContext } from './contexts.ts'
import type { SshLimits } from './edges/git-ssh/limits.ts'
import type { SshServer } from './edges/git-ssh/server.ts'
import { AbandonedRequests } from './edges/http/abandoned-requests.ts'
import type { HttpContext } from './edges/http/context.ts'
import { type HttpLimits, httpLimits } from './edges/http/limits.ts'
import type { HttpServer } from './http.ts'
import type { JobRunner, RunnerTimes } from './jobs/runner.ts'
import { Activity, type Busy } from './kernel/activity.ts'
import { Dispatcher, type HookTimes } from './modules/integrations/index.ts'
import { jobs } from './modules/jobs.ts'
import { recoverPushes } from './modules/pushes/index.ts'
import { recoverMerges } from './modules/review/index.ts'
import { openParts, type PartOverrides, type Parts } from './parts.ts'
import type { App as ServedApp, Services } from './processes/app-module.ts'
import { answersToPush } from './reactions.ts'

/** What tests replace. */
export type Overrides = PartOverrides &
  Pick<HttpContext, 'onAnswer'> & {
    readonly httpLimits?: Partial<HttpLimits>
    readonly sshLimits?: Partial<SshLimits>
    /** Time in milliseconds after which a full lane of git processes or pool of connections makes readiness fail. */
    readonly stuckAfterMs?: number
    readonly jobTimes?: RunnerTimes
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

/** Jobs and commands serve no HTTP, and workers run no jobs: each starts faster without what it does not need. */
const loadHttp = () => import('./http.ts')
const loadJobs = () => import('./jobs/runner.ts')

/** Loads the code that only this role needs. */
export const preload = async (role: 'worker' | 'jobs'): Promise<void> => {
  await (role === 'worker' ? loadHttp() : loadJobs())
}

/** Builds everything in order; disposing ends it in reverse. The composition root: only here and in `http.ts` do the parts meet. */
export async function createApp(config: Config, services: Services, overrides: Overrides = {}): Promise<App> {
  await using stack = new AsyncDisposableStack()
  const parts = await openParts(config, services, overrides, stack)
  return new ProcessApp({ config, services, overrides, parts, open: contextsOf(config, parts) }, stack.move())
}

type Built = {
  readonly config: Config
  readonly services: Services
  readonly overrides: Overrides
  readonly parts: Parts
  readonly open: OpenContext
}

class ProcessApp implements App {
  readonly #built: Built
  /** Ends the parts. */
  readonly #resources: AsyncDisposable
  readonly #activity = new Activity()
  #http: HttpServer | undefined
  #ssh: SshServer | undefined
  #jobs: JobRunner | undefined
  #hooks: Dispatcher | undefined

  constructor(built: Built, resources: AsyncDisposable) {
    this.#built = built
    this.#resources = resources
    built.parts.notifications.onChange((topic) => {
      if (topic === 'hooks' || topic === undefined) this.#hooks?.wake()
    })
  }

  get blobs(): LocatedBlobs {
    return this.#built.parts.blobs
  }

  open(caller: Caller): Promise<Ctx> {
    return this.#built.open(caller)
  }

  busy(): Busy {
    return this.#activity.busy
  }

  async listen(): Promise<void> {
    const { config, services, parts } = this.#built
    const { host, port } = config.http
    parts.serve()
    const shared = services.sharesPorts ? { reusePort: true, exclusive: true } : {}
    this.#http = await this.#openHttp()
    await this.#http.listen({ host, port, ...shared })
    // SSH may be disabled.
    if (config.sshPort === 0) return
    this.#ssh = await this.#openSsh()
    await this.#ssh.listen({ host, port: config.sshPort, ...shared })
  }

  async #openHttp(): Promise<HttpServer> {
    const { config, services, overrides, parts, open } = this.#built
    const { db, settings, authenticator, site, registry, log, runner, blobs } = parts
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
      activity: this.#activity,
      answersToPush,
      open,
      ...(overrides.onAnswer && { onAnswer: overrides.onAnswer }),
    }
    const { openHttp } = await loadHttp()
    return openHttp(context, limits, {
      runner,
      databaseLoads: () => db.loads(),
      blobs,
      dataDir: config.dataDir,
      stuckAfterMs: overrides.stuckAfterMs,
      metrics: services.metrics,
      metricsFrom: config.metricsFrom,
      proxies: config.proxies,
    })
  }

  async #openSsh(): Promise<SshServer> {
    const { config, overrides, parts, open } = this.#built
    const { db, log } = parts
    const [{ SshServer }, { ensureHostKeys }] = await Promise.all([
      import('./edges/git-ssh/server.ts'),
      import('./edges/git-ssh/host-key.ts'),
    ])
    const context = { db, log, activity: this.#activity, answersToPush, open }
    return new SshServer(ensureHostKeys(config.dataDir), context, overrides.sshLimits)
  }

  async runJobs(onBroken: Parameters<ServedApp['runJobs']>[0]): Promise<void> {
    const { services, overrides, parts } = this.#built
    const { log, isQuiet } = parts
    const open = () => this.#built.open(null)
    const recovered = await recoverPushes(await open(), 0)
    if (recovered > 0) log.info({ pushes: recovered }, 'settled interrupted pushes')
    await recoverMerges(await open(), 0)
    const { startJobs } = await loadJobs()
    const { jobTimes: times, hookTimes } = overrides
    this.#jobs = await startJobs({
      ...{ databaseUrl: services.databaseUrl, open, log, activity: this.#activity, onBroken },
      jobs: isQuiet ? jobs.filter(({ outgoing }) => !outgoing) : jobs,
      ...(times && { times }),
    })
    if (isQuiet) return
    this.#hooks = new Dispatcher({ open, log, times: hookTimes })
    this.#hooks.start()
  }

  async stopJobs(): Promise<void> {
    const [running, sending] = [this.#jobs, this.#hooks]
    this.#jobs = undefined
    this.#hooks = undefined
    await Promise.all([running?.stop(), sending?.stop()])
  }

  async stop(graceMs: number): Promise<void> {
    const http = this.#http
    const hurry = setTimeout(() => http?.server.closeAllConnections(), graceMs)
    // `close` closes the connections that are idle now; ones that become idle later must not delay the stop.
    const idle = setInterval(() => http?.server.closeIdleConnections(), 100)
    await Promise.all([http?.close(), this.#ssh?.stop(graceMs), this.stopJobs()])
    clearInterval(idle)
    clearTimeout(hurry)
    await this.#resources[Symbol.asyncDispose]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopJobs()
    await this.#ssh?.[Symbol.asyncDispose]()
    this.#http?.server.closeAllConnections()
    await this.#http?.close()
    await this.#resources[Symbol.asyncDispose]()
  }
}
