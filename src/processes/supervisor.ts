import { setTimeout as delay } from 'node:timers/promises'
import { Failure } from '../kernel/failure.ts'

/** A running, ready process. */
export type Running = {
  pid: number | undefined
  /** Settles when the process has ended, with the reason if known: `exit code 1`, `SIGKILL`. */
  ended: Promise<string | undefined>
  stop(graceMs: number): Promise<void>
}

export type Supervised = {
  /** Name for messages: `the git runner`. */
  name: string
  /** Resolves when the process is ready; rejects if it cannot start, or soon after `signal` aborts. */
  start(signal: AbortSignal): Promise<Running>
  /** What prevents it from running until an operator changes that, as a sentence, if that is known. `error` is that of a failed start. */
  obstacle?(error: unknown): Promise<string | undefined>
}

/** A process that ran for less than this counts as a failure. */
const healthyAfterMs = 5_000
const maxFailures = 6
const firstPauseMs = 100
/** Between attempts while an obstacle remains. */
const obstaclePauseMs = 2_000

/** Supervises one process: restarts it when it ends, with increasing delays, and gives up after repeated failures, unless an obstacle is the reason. */
export class Supervisor {
  readonly #supervised: Supervised
  readonly #say: (line: string) => void
  readonly #stopping = new AbortController()
  #running: Running | undefined
  #starting: Promise<Running> | undefined
  #loop: Promise<void> = Promise.resolve()

  constructor(supervised: Supervised, say: (line: string) => void) {
    this.#supervised = supervised
    this.#say = say
  }

  /** Starts the process; rejects if that fails. Later calls `gaveUp` at most once, after repeated failures. */
  async start(gaveUp: (failure: Failure) => void): Promise<void> {
    this.#running = await this.#begin()
    this.startSoon(gaveUp)
  }

  /** The same without waiting for the start, which counts as one of the failures if it fails. Nothing starts after `stop`. */
  startSoon(gaveUp: (failure: Failure) => void): void {
    this.#loop = this.#supervise(gaveUp)
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort()
    const running = this.#running ?? (await this.#starting?.catch(() => undefined))
    await running?.stop(graceMs)
    await this.#loop
  }

  #begin(): Promise<Running> {
    this.#starting = this.#supervised.start(this.#stopping.signal)
    return this.#starting
  }

  async #supervise(gaveUp: (failure: Failure) => void): Promise<void> {
    const { signal } = this.#stopping
    const { name } = this.#supervised
    let failures = 0
    let startedAt = performance.now()
    let reason: string | undefined
    let failure: unknown
    let reported: string | undefined
    const attempt = async () => {
      startedAt = performance.now()
      try {
        this.#running = await this.#begin()
        reported = undefined
      } catch (error) {
        failure = error
        reason = error instanceof Error ? error.message : String(error)
        failures += 1
      }
    }
    if (this.#running === undefined && !signal.aborted) await attempt()
    while (!signal.aborted) {
      if (this.#running) {
        reason = await this.#running.ended
        if (signal.aborted) return
        failures = performance.now() - startedAt < healthyAfterMs ? failures + 1 : 0
        this.#running = undefined
        failure = undefined
      }
      const obstacle = await this.#supervised.obstacle?.(failure)
      if (obstacle !== undefined) {
        failures = 0
        if (obstacle !== reported) this.#say(`${name} ended: ${obstacle}`)
        reported = obstacle
        await pause(obstaclePauseMs, signal)
        if (!signal.aborted) await attempt()
        continue
      }
      const why = reason === undefined ? '' : ` (${reason})`
      if (failures >= maxFailures) {
        return gaveUp(new Failure('unavailable', `${name} ended ${failures} times in a row${why}: Stithy stops.`))
      }
      this.#say(`${name} ended${why}: starting it again.`)
      if (failures > 0) await pause(firstPauseMs * 2 ** (failures - 1), signal)
      if (!signal.aborted) await attempt()
    }
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> => delay(ms, undefined, { signal }).catch(() => {})
