import type { Runner } from 'graphile-worker'
import type { Logger as Pino } from 'pino'
import { Type } from 'typebox'
import type { Ctx } from '../api/ctx.ts'
import { clockJump } from '../kernel/clock.ts'
import { Failure } from '../kernel/failure.ts'
import { enqueue, type Job } from './job.ts'
import { saveTaken } from './queue-state.ts'

/** Milliseconds. */
export type WatchTimes = {
  /** Interval of the probe job, which shows that jobs are taken. */
  readonly probe: number
  /** Maximum time without a taken job while slots are free and a job waits. */
  readonly idle: number
}

type WatchOptions = {
  readonly probe: Job
  /** Number of jobs that run at once. */
  readonly concurrency: number
  readonly times: WatchTimes
  /** Whether the time at which a job was last taken is saved for the readiness check. */
  readonly saves: boolean
  readonly open: () => Promise<Ctx>
  readonly log: Pino
}

/** A job that does nothing; that it is taken proves that the runner works. */
export const probeNamed = (name: string): Job => ({
  name,
  input: Type.Object({}),
  key: () => name,
  attempts: 25,
  run: async () => {},
})

export const ended = () => new Failure('unavailable', 'The job runner ended unexpectedly')

/** Gradual clock corrections below this are not a jump. */
const clockToleranceMs = 2 * 60_000

/** Minimum interval between writes of the time at which a job was last taken. */
const saveEveryMs = 5000

/** Detects whether a runner takes jobs. */
export class Watch {
  readonly #options: WatchOptions
  readonly #first = Promise.withResolvers<void>()
  #running = 0
  /** When a job was first seen waiting while slots were free; undefined if none is. */
  #waitingSince: number | undefined
  #savedAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #isOver = false
  #jump = clockJump()

  constructor(options: WatchOptions) {
    this.#options = options
  }

  /** Resolves when the first job is taken. */
  get firstTaken(): Promise<void> {
    return this.#first.promise
  }

  /** Runs the work of a job that was taken. */
  async taking<T>(work: () => Promise<T>): Promise<T> {
    this.#running++
    this.#waitingSince = undefined
    this.#first.resolve()
    this.#save()
    try {
      return await work()
    } finally {
      this.#running--
      // No job could be taken while all slots were busy.
      this.#waitingSince = undefined
    }
  }

  async queueProbe(): Promise<void> {
    const ctx = await this.#options.open()
    await ctx.transaction((tx) => enqueue(tx, this.#options.probe, {}))
  }

  begin(runner: Runner, onBroken: (error: Error) => void): void {
    const broken = (error: Error) => {
      if (this.#isOver) return
      this.end()
      onBroken(error)
    }
    runner.promise.then(() => broken(ended()), broken)
    const { times } = this.#options
    this.#timer = setInterval(() => void this.#look(broken), times.probe).unref()
  }

  end(): void {
    this.#isOver = true
    clearInterval(this.#timer)
  }

  async #look(broken: (error: Error) => void): Promise<void> {
    const { concurrency, times } = this.#options
    // The schedule follows the clock at start; set back, it would run nothing until that time comes again.
    const jump = clockJump()
    const jumped = jump - this.#jump
    this.#jump = jump
    if (Math.abs(jumped) > clockToleranceMs)
      return broken(new Failure('unavailable', 'The clock was changed: the job runner restarts'))
    try {
      const now = performance.now()
      await this.queueProbe()
      if (this.#running < concurrency) this.#waitingSince ??= now
      else {
        this.#waitingSince = undefined
        this.#save()
      }
    } catch {
      // Jobs cannot be taken without a database; the runner is not at fault.
      this.#waitingSince = undefined
    }
    if (this.#waitingSince !== undefined && performance.now() - this.#waitingSince > times.idle)
      broken(new Failure('unavailable', `No job was taken for ${times.idle / 1000} s, although jobs are waiting`))
  }

  #save(): void {
    if (!this.#options.saves) return
    const now = performance.now()
    if (now - this.#savedAt < saveEveryMs) return
    this.#savedAt = now
    this.#options
      .open()
      .then(({ db }) => saveTaken(db))
      .catch((err) => this.#options.log.warn({ err }, 'cannot save when a job was last taken'))
  }
}
