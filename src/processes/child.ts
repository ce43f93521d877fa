import { flushCompileCache } from 'node:module'
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { configForJobs } from '../config.ts'
import { DatabaseLost } from '../db/connection-errors.ts'
import { lowerPriority } from '../kernel/priority.ts'
import { WrongSetting } from '../kernel/wrong-setting.ts'
import { type App, type AppModule, loadAppModule } from './app-module.ts'
import { explain } from './explain.ts'
import { collectWhenIdle } from './idle-memory.ts'
import type { Order, Report } from './messages.ts'
import { askForMetrics } from './metrics.ts'

/*
 * Entry point of an HTTP worker and of the jobs process: `child.ts <role> <app module>`. It imports the app at once, while
 * PostgreSQL starts, and then follows the orders of the primary. It never outlives the primary.
 */

/**
 * With SO_REUSEPORT each worker listens itself, and the kernel distributes connections. Without it, the primary accepts for
 * all, and under a flood of short connections others wait for seconds.
 */
const sharesPorts = process.platform === 'linux'
/** Grace period if only this process receives a signal. */
const ownGraceMs = 10_000
/** Interval of reports of what a stopping process waits for. */
const busyEveryMs = 500
/** Interval of connection attempts while the database is unavailable. */
const waitMs = 500

const [role, moduleUrl] = process.argv.slice(2) as ['worker' | 'jobs', string]

let app: App | undefined
let stopping = false

const report = (message: Report): Promise<void> =>
  new Promise((resolve) =>
    process.connected ? process.send!(message, undefined, undefined, () => resolve()) : resolve(),
  )

async function obey(order: Order, module: AppModule): Promise<void> {
  switch (order.kind) {
    case 'prepare': {
      await module.requireOwn(order.config, order.databaseUrl)
      await module.migrate(order.databaseUrl, (line) => void report({ kind: 'progress', line }))
      const credentials = await module.bootstrap(order.config, order.databaseUrl)
      return report({ kind: 'prepared', credentials })
    }
    case 'start': {
      await open(order, module)
      await report({ kind: 'ready' })
      // Requests have priority over jobs.
      if (role === 'jobs') lowerPriority(process.pid, constants.priority.PRIORITY_BELOW_NORMAL)
      // A killed process would not write the cache.
      flushCompileCache()
      collectWhenIdle()
      return
    }
    case 'stop':
      return stop(order.graceMs)
  }
}

/**
 * Opens the app and starts its work. The database was available when the service started; a process that restarts while it is
 * unavailable (recovery, failover) waits for it.
 */
async function open({ config, services }: Extract<Order, { kind: 'start' }>, module: AppModule): Promise<void> {
  const isWorker = role === 'worker'
  const parts = isWorker ? { ...services, metrics: askForMetrics(), sharesPorts } : services
  for (let isWaiting = false; ; isWaiting = true) {
    try {
      app = await module.createApp(isWorker ? config : configForJobs(config), parts)
      return await (isWorker ? app.listen() : app.runJobs((error) => void fail(error)))
    } catch (error) {
      if (!(error instanceof DatabaseLost)) throw error
      await app?.[Symbol.asyncDispose]()
      app = undefined
      if (!isWaiting) await report({ kind: 'progress', line: `A process is waiting: ${explain(error).sentence}` })
      await delay(waitMs)
    }
  }
}

async function stop(graceMs: number): Promise<void> {
  if (stopping) return
  stopping = true
  const tell = () => app && void report({ kind: 'busy', busy: app.busy() })
  tell()
  setInterval(tell, busyEveryMs).unref()
  try {
    await app?.stop(graceMs)
    await app?.[Symbol.asyncDispose]()
  } catch (error) {
    return fail(error)
  }
  process.exit(0)
}

async function fail(error: unknown): Promise<never> {
  const { sentence, expected } = explain(error)
  if (!expected) console.error(error)
  await report({ kind: 'failed', sentence, isSetting: error instanceof WrongSetting })
  process.exit(1)
}

process.title = `stithy ${role}`
process.setSourceMapsEnabled(true)
process.on('disconnect', () => process.exit(1))
process.on('uncaughtException', (error) => void fail(error))
process.on('unhandledRejection', (error) => void fail(error))
process.on('SIGTERM', () => void stop(ownGraceMs))
// Ctrl-C reaches every process of the terminal; the primary decides when to stop.
process.on('SIGINT', () => {})
process.on('SIGHUP', () => {})

const orders: Order[] = []
const keep = (order: Order) => orders.push(order)
process.on('message', keep)
try {
  const module = await loadAppModule(moduleUrl)
  await module.preload(role)
  process.off('message', keep)
  const act = (order: Order) => void obey(order, module).catch(fail)
  process.on('message', act)
  orders.forEach(act)
  await report({ kind: 'loaded' })
} catch (error) {
  await fail(error)
}
