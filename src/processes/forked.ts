import type { ChildProcess, Serializable } from 'node:child_process'
import type { Busy } from '../kernel/activity.ts'
import { Failure } from '../kernel/failure.ts'
import { WrongSetting } from '../kernel/wrong-setting.ts'
import type { Order, Report } from './messages.ts'
import type { Running } from './supervisor.ts'

/** Maximum time to exit after the grace period, in ms. */
const endWithinMs = 2_000

/** What a process reports without a question. */
type Listeners = Readonly<{ onProgress(line: string): void; onBusy(process: object, busy: Busy): void }>

/** A worker or the jobs process, as the primary sees it. */
export class Forked implements Running {
  readonly #child: ChildProcess
  readonly ended: Promise<string>
  /** Pending `report` calls, by kind. */
  readonly #waiting = new Map<Report['kind'], { resolve(report: Report): void; reject(error: Error): void }>()
  readonly #listeners: Listeners
  /** Reports that arrived before they were requested: `loaded` comes unrequested. */
  readonly #early: Report[] = []
  #failure: Extract<Report, { kind: 'failed' }> | undefined

  constructor(child: ChildProcess, listeners: Listeners) {
    this.#child = child
    this.#listeners = listeners
    this.ended = new Promise((resolve) => {
      const finish = (reason: string) => {
        resolve(this.#failure?.sentence ?? reason)
        for (const { reject } of this.#waiting.values()) reject(this.#failureFor(reason))
        this.#waiting.clear()
      }
      child.once('exit', (code, signal) => finish(signal ?? `exit code ${code}`))
      child.once('error', (error) => finish(error.message))
    })
    // Other modules use the same channel, such as the metrics.
    child.on('message', (message) => {
      if ('kind' in (message as object)) this.#take(message as Report)
    })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  send(order: Order): void {
    // If the process has ended, `ended` reports it.
    if (this.#child.connected) this.#child.send(order as Serializable, () => {})
  }

  /** The next report of that kind. Rejects with the message of a `failed` report, or when the process ends. */
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
    throw this.#failureFor(await this.ended)
  }

  #failureFor(reason: string): Failure {
    const { sentence, isSetting } = this.#failure ?? { sentence: reason, isSetting: false }
    return isSetting ? new WrongSetting(sentence) : new Failure('unavailable', sentence)
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
    if (report.kind === 'progress') this.#listeners.onProgress(report.line)
    else if (report.kind === 'busy') this.#listeners.onBusy(this, report.busy)
    // Pending calls reject when the process has ended.
    else if (report.kind === 'failed') this.#failure = report
    else if (waiting === undefined) this.#early.push(report)
    else waiting.resolve(report)
  }
}
