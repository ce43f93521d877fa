import { Failure } from './failure.ts'

/**
 * Prefix of the key of an anonymous caller, followed by its network. One client may have thousands of addresses, so anonymous
 * callers also share a common limit.
 */
export const unknownCaller = 'address '

/** The shares that a job counts against. Both keys are only compared. */
export type Claim = {
  /** The account or client address that causes the work; '' for the service itself. */
  readonly caller: string
  /** What the work acts on, such as a project; '' for nothing in particular. */
  readonly owner: string
  /** Part of work that already holds a slot: it starts at once, because waiting for one's own slot would deadlock. */
  readonly nested?: boolean
}

/** Why a job was refused: its caller has too many waiting jobs (`caller`), or all callers together have (`all`). */
export type Refused = { readonly full: 'caller' | 'all' }

export type Load = {
  readonly slots: number
  readonly running: number
  readonly waiting: number
  /** Waiting time of the oldest waiting job in milliseconds; 0 if none waits. */
  readonly oldestWaitMs: number
}

export const sumOfLoads = (loads: readonly Load[]): Load =>
  loads.reduce((one, other) => ({
    slots: one.slots + other.slots,
    running: one.running + other.running,
    waiting: one.waiting + other.waiting,
    oldestWaitMs: Math.max(one.oldestWaitMs, other.oldestWaitMs),
  }))

/** The failure of a refused job. `what` is the resource it waited for: `git`. */
export const refusal = ({ full }: Refused, what: string): Failure =>
  full === 'caller'
    ? new Failure('rate_limited', `Too many of your requests wait for ${what}. Retry later.`, { retryAfterSeconds })
    : new Failure('unavailable', 'The server is too busy', { retryAfterSeconds })

/** Most waiting jobs start sooner. */
const retryAfterSeconds = 10

/** A caller waiting for a slot. */
type Waiting = Claim & { start(): void }

/** Slots for asynchronous work. `what` names the resource in the error message: `the database`. */
export class SharedSlots {
  readonly #shares: Shares<Waiting>
  readonly #what: string

  constructor(what: string, { slots, maxWaiting }: { slots: number; maxWaiting: number }) {
    this.#what = what
    this.#shares = new Shares({ slots, maxWaiting, start: (waiting) => waiting.start() })
  }

  get load(): Load {
    return this.#shares.load
  }

  /**
   * Resolves with the release function once the caller has a slot. Rejects if too many callers wait, and with the reason of
   * `signal` if it aborts first. Work of the service itself ('') is counted and never waits.
   */
  async enter(caller: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const claim: Waiting = { caller, owner: '', nested: caller === '', start: resolve }
    const refused = this.#shares.add(claim)
    if (refused) throw refusal(refused, this.#what)
    const leave = () => {
      if (this.#shares.remove(claim)) reject(signal!.reason)
    }
    signal?.addEventListener('abort', leave, { once: true })
    try {
      await promise
    } finally {
      signal?.removeEventListener('abort', leave)
    }
    return () => this.#shares.release(claim)
  }

  /** Runs `work` while holding a slot. Rejects as `enter` does, and with the error of `work`. */
  async run<T>(caller: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const leave = this.#enterNow(caller) ?? (await this.enter(caller, signal))
    try {
      return await work()
    } finally {
      leave()
    }
  }

  /** Takes a slot if the caller may have one now, without a promise. */
  #enterNow(caller: string): (() => void) | undefined {
    const claim: Waiting = { caller, owner: '', nested: caller === '', start: () => {} }
    return this.#shares.startNow(claim) ? () => this.#shares.release(claim) : undefined
  }
}

type Line<Job> = { job: Job; since: number }[]

/**
 * A pool of slots that no single caller or owner can exhaust. The limits depend on the free slots:
 * - a caller starts a job while it holds fewer than half as many slots as are free: alone, at most a third of all;
 * - an owner, and the service itself, while they hold fewer slots than are free: alone, at most half of all;
 * - anonymous callers together, while they hold fewer slots than are free: alone, at most half of all;
 * - a caller may have half as many jobs waiting as places are free, and anonymous callers together half of all places.
 * So some slots stay free for a new caller, however many others are at their limit. Waiting jobs are served round-robin by
 * caller, and those of one caller round-robin by owner. Starting a job takes at most one step per waiting queue.
 */
export class Shares<Job extends Claim> {
  readonly #slots: number
  readonly #maxWaiting: number
  readonly #start: (job: Job) => void
  /** Caller → owner → jobs. The order of the maps is the round-robin order. */
  readonly #lines = new Map<string, Map<string, Line<Job>>>()
  readonly #heldByCaller = new Map<string, number>()
  readonly #heldByOwner = new Map<string, number>()
  readonly #waitingByCaller = new Map<string, number>()
  #held = 0
  #heldByUnknown = 0
  #nested = 0
  #waiting = 0
  #waitingOfUnknown = 0

  constructor({ slots, maxWaiting, start }: { slots: number; maxWaiting: number; start(job: Job): void }) {
    this.#slots = slots
    this.#maxWaiting = maxWaiting
    this.#start = start
  }

  /** Starts the job if it need not wait. */
  startNow(job: Job): boolean {
    if (job.nested) {
      this.#nested++
      this.#start(job)
      return true
    }
    if (this.#lines.get(job.caller)?.has(job.owner) || !this.#mayStart(job)) return false
    this.#run(job)
    return true
  }

  /** Starts the job or queues it. */
  add(job: Job): Refused | undefined {
    if (this.startNow(job)) return undefined
    const room = this.#maxWaiting - this.#waiting
    if (room <= 0 || (isUnknown(job) && this.#waitingOfUnknown * 2 >= this.#maxWaiting)) return { full: 'all' }
    const own = this.#waitingByCaller.get(job.caller) ?? 0
    if (job.caller !== '' && own * 2 >= room) return { full: 'caller' }
    const owners = this.#lines.get(job.caller) ?? new Map<string, Line<Job>>()
    const line = owners.get(job.owner) ?? []
    line.push({ job, since: performance.now() })
    owners.set(job.owner, line)
    this.#lines.set(job.caller, owners)
    this.#countWaiting(job, 1)
    return undefined
  }

  /** Removes a waiting job. False if it does not wait. */
  remove(job: Job): boolean {
    const line = this.#lines.get(job.caller)?.get(job.owner)
    const index = line?.findIndex((each) => each.job === job) ?? -1
    if (!line || index < 0) return false
    line.splice(index, 1)
    this.#countWaiting(job, -1)
    this.#dropIfEmpty(job, line)
    return true
  }

  /** Returns the slot of a finished job; the caller that has waited longest for its turn gets it. */
  release(job: Job): void {
    if (job.nested) {
      this.#nested--
      return
    }
    this.#held--
    if (isUnknown(job)) this.#heldByUnknown--
    add(this.#heldByCaller, job.caller, -1)
    add(this.#heldByOwner, job.owner, -1)
    for (let next = this.#next(); next; next = this.#next()) this.#run(next)
  }

  /** Number of slots the caller holds. */
  heldBy(caller: string): number {
    return this.#heldByCaller.get(caller) ?? 0
  }

  get load(): Load {
    let oldest = Number.POSITIVE_INFINITY
    for (const owners of this.#lines.values())
      for (const line of owners.values()) oldest = Math.min(oldest, line[0]!.since)
    return {
      slots: this.#slots,
      running: this.#held + this.#nested,
      waiting: this.#waiting,
      oldestWaitMs: this.#waiting === 0 ? 0 : performance.now() - oldest,
    }
  }

  #run(job: Job): void {
    this.#held++
    if (isUnknown(job)) this.#heldByUnknown++
    add(this.#heldByCaller, job.caller, 1)
    add(this.#heldByOwner, job.owner, 1)
    this.#start(job)
  }

  #mayStart({ caller, owner }: Claim): boolean {
    return this.#callerMayStart(caller) && this.#ownerMayStart(owner)
  }

  #callerMayStart(caller: string): boolean {
    const free = this.#slots - this.#held
    if (isUnknown({ caller }) && this.#heldByUnknown >= free) return false
    const held = this.heldBy(caller)
    return (caller === '' ? held : held * 2) < free
  }

  #ownerMayStart(owner: string): boolean {
    const free = this.#slots - this.#held
    return free > 0 && (owner === '' || (this.#heldByOwner.get(owner) ?? 0) < free)
  }

  /** Dequeues the next job that may start. */
  #next(): Job | undefined {
    if (this.#waiting === 0 || this.#held >= this.#slots) return undefined
    for (const [caller, owners] of this.#lines) {
      if (!this.#callerMayStart(caller)) continue
      for (const [owner, line] of owners) {
        if (!this.#ownerMayStart(owner)) continue
        const { job } = line.shift()!
        // Both move to the back, so that the others are served first.
        owners.delete(owner)
        if (line.length > 0) owners.set(owner, line)
        this.#lines.delete(caller)
        if (owners.size > 0) this.#lines.set(caller, owners)
        this.#countWaiting(job, -1)
        return job
      }
    }
    return undefined
  }

  #countWaiting({ caller }: Claim, change: number): void {
    this.#waiting += change
    if (isUnknown({ caller })) this.#waitingOfUnknown += change
    add(this.#waitingByCaller, caller, change)
  }

  #dropIfEmpty({ caller, owner }: Claim, line: Line<Job>): void {
    if (line.length > 0) return
    const owners = this.#lines.get(caller)!
    owners.delete(owner)
    if (owners.size === 0) this.#lines.delete(caller)
  }
}

const isUnknown = ({ caller }: Pick<Claim, 'caller'>): boolean => caller.startsWith(unknownCaller)

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
