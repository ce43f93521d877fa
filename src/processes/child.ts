import { flushCompileCache } from 'node:module'
import { constants, setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseLost } from '../db/lost.ts'
import { type App, type AppModule, loadAppModule } from './app-module.ts'
import { explain } from './explain.ts'
import type { Order, Report } from './messages.ts'
import { askForMetrics } from './metrics.ts'

/*
 * Entry of an HTTP worker and of the jobs process: `child.ts <role> <app module>`. It loads the app at
 * once, while PostgreSQL starts, and then does what the primary orders. It never outlives the primary.
 */

/**
 * Each worker listens for itself (SO_REUSEPORT), and the kernel gives connections to one of them. Elsewhere the primary accepts
 * for all: under a flood of connections that are closed at once, others wait there for seconds.
 */
const sharesPorts = process.platform === 'linux'
/** When somebody asks only this process to end. */
const ownGraceMs = 10_000
/** How often a database that is away is asked again. */
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
      // From now on nobody waits for jobs as for an answer: they give way to who answers.
      if (role === 'jobs') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
      // A process that is killed later would not write it.
      flushCompileCache()
      return
    }
    case 'stop':
      return stop(order.graceMs)
  }
}

/**
 * Opens the app and begins its work. The database was there when the service started: from then on, whoever is started
 * again while it is away (it recovers, or another takes its place) waits for it.
 */
async function open({ config, services }: Extract<Order, { kind: 'start' }>, module: AppModule): Promise<void> {
  const parts = role === 'worker' ? { ...services, metrics: askForMetrics(), sharesPorts } : services
  for (let isWaiting = false; ; isWaiting = true) {
    try {
      app = await module.createApp(config, parts)
      return await (role === 'worker' ? app.listen() : app.runJobs((error) => void fail(error)))
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
  await report({ kind: 'failed', sentence })
  process.exit(1)
}

process.title = `stithy ${role}`
process.on('disconnect', () => process.exit(1))
process.on('uncaughtException', (error) => void fail(error))
process.on('unhandledRejection', (error) => void fail(error))
process.on('SIGTERM', () => void stop(ownGraceMs))
// Ctrl-C reaches every process of the terminal; the primary tells us when to stop.
process.on('SIGINT', () => {})
process.on('SIGHUP', () => {})

const orders: Order[] = []
const keep = (order: Order) => orders.push(order)
process.on('message', keep)
try {
  const module = await loadAppModule(moduleUrl)
  process.off('message', keep)
  const act = (order: Order) => void obey(order, module).catch(fail)
  process.on('message', act)
  orders.forEach(act)
  await report({ kind: 'loaded' })
} catch (error) {
  await fail(error)
}
