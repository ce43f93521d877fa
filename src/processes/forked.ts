import type { ChildProcess, Serializable } from 'node:child_process'
import { Failure } from '../kernel/failure.ts'
import type { Running } from './keeper.ts'
import type { Order, Report } from './messages.ts'

/** How long after its grace a process may take to end by itself, in ms. */
const endWithinMs = 2_000

/** The primary's end of a worker or the jobs process. */
export class Forked implements Running {
  readonly #child: ChildProcess
  readonly ended: Promise<string>
  /** Waiting for a report, by its kind. */
  readonly #waiting = new Map<Report['kind'], { resolve(report: Report): void; reject(error: Error): void }>()
  readonly #onProgress: (line: string) => void
  /** Reports nobody has asked for yet: `loaded` comes by itself. */
  readonly #early: Report[] = []
  #failure: string | undefined

  constructor(child: ChildProcess, onProgress: (line: string) => void) {
    this.#child = child
    this.#onProgress = onProgress
    this.ended = new Promise((resolve) => {
      const finish = (reason: string) => {
        resolve(this.#failure ?? reason)
        for (const { reject } of this.#waiting.values()) reject(new Failure('unavailable', this.#failure ?? reason))
        this.#waiting.clear()
      }
      child.once('exit', (code, signal) => finish(signal ?? `exit code ${code}`))
      child.once('error', (error) => finish(error.message))
    })
    // Others talk over the same channel: figures for Prometheus, say.
    child.on('message', (message) => {
      if ('kind' in (message as object)) this.#take(message as Report)
    })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  send(order: Order): void {
    // A process that has just ended cannot be told; `ended` says so.
    if (this.#child.connected) this.#child.send(order as Serializable, () => {})
  }

  /** The next report of that kind. Rejects with the sentence of a `failed` report, or when the process ends. */
  async report<K extends Report['kind']>(kind: K): Promise<Extract<Report, { kind: K }>> {
    const early = this.#early.findIndex((report) => report.kind === kind)
    if (early >= 0) return this.#early.splice(early, 1)[0] as Extract<Report, { kind: K }>
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return this.untilEnded()
    return new Promise<Report>((resolve, reject) => this.#waiting.set(kind, { resolve, reject })) as Promise<
      Extract<Report, { kind: K }>
    >
  }

  /** Rejects when the process ends, with the reason. */
  async untilEnded(): Promise<never> {
    throw new Failure('unavailable', await this.ended)
  }

  async stop(graceMs: number): Promise<void> {
    if (graceMs > 0) this.send({ kind: 'stop', graceMs })
    const kill = setTimeout(() => this.#child.kill('SIGKILL'), graceMs > 0 ? graceMs + endWithinMs : 0)
    await this.ended
    clearTimeout(kill)
  }

  #take(report: Report): void {
    const waiting = this.#waiting.get(report.kind)
    this.#waiting.delete(report.kind)
    if (report.kind === 'progress') this.#onProgress(report.line)
    // Those who wait hear of it when the process has ended.
    else if (report.kind === 'failed') this.#failure = report.sentence
    else if (waiting === undefined) this.#early.push(report)
    else waiting.resolve(report)
  }
}
