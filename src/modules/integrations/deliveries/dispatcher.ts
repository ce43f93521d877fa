import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { Ctx } from '../../../api/ctx.ts'
import { deliver, type PayloadCache } from './deliver.ts'
import { expandEvents } from './expand.ts'
import { lockQueue } from './expand-queries.ts'
import { Loop } from './loop.ts'
import { type DueRow, dueDeliveries, markTaken, nextDueMs, type Result, saveResults } from './queue-queries.ts'
import { aloneAfter, type HookTimes, hookTimes, maxAttempts, retryMs } from './schedule.ts'

/**
 * Requests at once: in all, to one host, and of one hook. A slow host or hook takes a share of them. So does a project or group, whose hooks
 * may have many slow hosts: it may begin one while it has fewer than are free, so that others always have room. A user, whose events may be
 * in many projects, may have three times as many.
 */
const limits = { all: 128, host: 32, hook: 16 }
const userFactor = 3

/** Without news the queue is read this often, in case a notification was lost. In milliseconds. */
const maxSleepMs = 60_000
/** While deliveries wait for requests of their hook or host to end. */
const blockedMs = 200
/** While a push waits for an earlier one. */
const settleMs = 100
/** After an error of the service itself. */
const errorPauseMs = 1_000
/** How long payloads are cached, for the hooks that receive the same one; in milliseconds. Later they are built from the rows of then. */
const cachedMs = 10_000
/** Of cached payloads, in characters. */
const cachedCharacters = 16 * 1024 * 1024

export type DispatcherOptions = {
  /** Opens a context without a caller. */
  readonly open: () => Promise<Ctx>
  readonly log: Logger
  readonly times?: HookTimes | undefined
}

/**
 * Sends deliveries. The queue is in the database: whatever is not recorded as sent is sent after a restart, with the same id. Only one
 * runs per installation, in the jobs process. Between events it sleeps until the next retry is due.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #times: HookTimes
  readonly #stop = new AbortController()
  readonly #sending = new Map<number, { readonly due: DueRow; readonly done: Promise<void> }>()
  readonly #payloads = payloadCache()
  #results: Result[] = []
  /** Turns events into deliveries, apart from sending, so that many events do not delay those that are queued. */
  readonly #expanding = new Loop(() => this.#orPause(() => this.#expand()))
  readonly #delivering = new Loop(() => this.#orPause(() => this.#deliver()))

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#times = options.times ?? hookTimes
  }

  start(): void {
    this.#expanding.start()
    this.#delivering.start()
  }

  /** There may be events, or deliveries that are due. */
  wake(): void {
    this.#expanding.wake()
    this.#delivering.wake()
  }

  /** Ends requests; what they were sending stays queued. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.all([this.#expanding.stop(), this.#delivering.stop()])
    await Promise.all([...this.#sending.values()].map(({ done }) => done))
    await this.#save(await this.#options.open()).catch(() => {})
  }

  #orPause(round: () => Promise<number>): Promise<number> {
    return round().catch((err) => {
      this.#options.log.warn({ err }, 'cannot send to hooks now')
      return errorPauseMs
    })
  }

  async #expand(): Promise<number> {
    const left = await expandEvents(await this.#options.open())
    if (left === 'nothing') return maxSleepMs
    this.#delivering.wake()
    return left === 'more' ? 0 : settleMs
  }

  async #deliver(): Promise<number> {
    const ctx = await this.#options.open()
    await this.#save(ctx)
    await this.#take(ctx)
    if (this.#sending.size >= limits.all) return maxSleepMs
    const dueMs = await nextDueMs(ctx.db, [...this.#sending.keys()])
    // What is due now waits for a request of its hook or host to end; others may become due meanwhile.
    return dueMs === null ? maxSleepMs : Math.min(Math.max(dueMs, blockedMs), maxSleepMs)
  }

  /** Results that cannot be saved stay for the next round. */
  async #save(ctx: Ctx): Promise<void> {
    // More may come while these are saved.
    const results = [...this.#results]
    if (results.length === 0) return
    await ctx.transaction(async (tx) => {
      await lockQueue(tx)
      await saveResults(tx, results)
    })
    this.#results = this.#results.slice(results.length)
    for (const { id } of results) this.#sending.delete(id)
  }

  /** Starts deliveries that are due. */
  async #take(ctx: Ctx): Promise<void> {
    const free = limits.all - this.#sending.size
    if (free <= 0) return
    const taken = [...this.#sending.values()].map(({ due }) => due)
    const full = <Key>(keys: readonly (Key | null)[], limit: number) =>
      [...Map.groupBy(keys, (key) => key)].flatMap(([key, same]) => (key !== null && same.length >= limit ? [key] : []))
    const failing = taken.filter(({ failures }) => failures >= aloneAfter).map(({ hook_id }) => hook_id)
    const due = await dueDeliveries(
      ctx.db,
      {
        deliveries: taken.map(({ delivery_id }) => delivery_id),
        hooks: [
          ...full(
            taken.map(({ hook_id }) => hook_id),
            limits.hook,
          ),
          ...failing,
        ],
        projects: full(
          taken.map(({ hook_project_id }) => hook_project_id),
          free,
        ),
        groups: full(
          taken.map(({ hook_group_id }) => hook_group_id),
          free,
        ),
        actors: full(
          taken.map(({ is_system, actor_id }) => (is_system ? null : actor_id)),
          userFactor * free,
        ),
        hosts: full(
          taken.map(({ host }) => host),
          limits.host,
        ),
      },
      { perHook: limits.hook, limit: 2 * limits.all },
    )
    const counts = new Map<string, number>()
    const count = (key: string) => counts.get(key) ?? 0
    const add = (one: DueRow) => {
      for (const key of [`hook ${one.hook_id}`, `host ${one.host}`, holderOf(one), userOf(one)])
        counts.set(key, count(key) + 1)
    }
    taken.forEach(add)
    let started = 0
    const starting: DueRow[] = []
    this.#countInterrupted(due.filter(({ was_taken }) => was_taken))
    for (const one of due) {
      if (started >= free) break
      if (one.was_taken) continue
      if (count(`hook ${one.hook_id}`) >= limits.hook || count(`host ${one.host}`) >= limits.host) continue
      const left = free - started
      if (!one.is_system && (count(holderOf(one)) >= left || count(userOf(one)) >= userFactor * left)) continue
      add(one)
      started++
      starting.push(one)
    }
    await markTaken(
      ctx.db,
      starting.map(({ delivery_id }) => delivery_id),
    )
    for (const one of starting) this.#begin(ctx, one)
  }

  /** What the process that was sending it has not survived may be its payload: it counts, and others are sent before it is tried again. */
  #countInterrupted(interrupted: readonly DueRow[]): void {
    for (const due of interrupted) {
      this.#options.log.warn({ delivery: due.delivery_id, hook: due.hook_id }, 'a hook delivery was interrupted')
      this.#sending.set(due.delivery_id, { due, done: Promise.resolve() })
      this.#results.push(ownFailure(due, this.#times, 'The service ended while it was sending'))
    }
    if (interrupted.length > 0) this.#delivering.wake()
  }

  #begin(ctx: Ctx, due: DueRow): void {
    const { log } = this.#options
    const options = { times: this.#times, payloads: this.#payloads, signal: this.#stop.signal }
    const done = deliver(ctx, due, options)
      .catch((err): Result => {
        log.error({ err, delivery: due.delivery_id, hook: due.hook_id }, 'cannot build or send a hook delivery')
        return ownFailure(due, this.#times, 'The service could not build the payload')
      })
      .then((result) => {
        this.#results.push(result)
        this.#delivering.wake()
      })
    this.#sending.set(due.delivery_id, { due, done })
  }
}

/** Whose hook it is. */
const holderOf = ({ hook_project_id: projectId, hook_group_id: groupId }: DueRow): string =>
  projectId !== null ? `project ${projectId}` : groupId !== null ? `group ${groupId}` : 'installation'

/** Who caused the event of a hook of a project or group. Without a user, the share of the project or group is the narrower one. */
const userOf = (one: DueRow): string =>
  `user ${one.is_system || one.actor_id === null ? `of ${holderOf(one)}` : one.actor_id}`

/** The service failed, not the receiver: it is tried again, as often as if the receiver had refused it. */
const ownFailure = (due: DueRow, times: HookTimes, error: string): Result => ({
  id: due.delivery_id,
  hook_id: due.hook_id,
  state: due.attempts + 1 >= maxAttempts ? 'failed' : 'pending',
  attempts: due.attempts + 1,
  delay_ms: retryMs(times, due.attempts + 1),
  pause_ms: 0,
  sent: false,
  alone: false,
  response_status: null,
  response_headers: null,
  response_body: null,
  duration_ms: null,
  error,
})

function payloadCache(): PayloadCache {
  const cache = new LRUCache<string, Promise<string | undefined>>({ max: 64 })
  const sizes = new LRUCache<string, string>({
    maxSize: cachedCharacters,
    sizeCalculation: ({ length }) => length + 1,
    ttl: cachedMs,
  })
  return {
    get: (key) => {
      const text = sizes.get(key)
      return text === undefined ? cache.get(key) : Promise.resolve(text)
    },
    set(key, payload) {
      cache.set(key, payload)
      payload.then(
        (text) => {
          cache.delete(key)
          if (text !== undefined && text.length < cachedCharacters / 4) sizes.set(key, text)
        },
        () => cache.delete(key),
      )
    },
    forget: (key) => void cache.delete(key),
  }
}
