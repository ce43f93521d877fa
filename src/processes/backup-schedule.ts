import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Notices } from './terminal.ts'

/** A run of `stithy backup`. */
export type BackupRun = { readonly ended: Promise<void>; stop(): void }

export type Schedule = {
  /** Minutes after midnight, UTC. */
  readonly at: readonly number[]
  readonly start: () => BackupRun
  readonly say: Notices['say']
}

const tickMs = 10_000
const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

/** Whether one of the times of day is after `from`, and not after `to`. */
export function isDue(at: readonly number[], from: Date, to: Date): boolean {
  const today = Math.floor(to.getTime() / dayMs) * dayMs
  return [today - dayMs, today].some((day) =>
    at.some((minutes) => {
      const time = day + minutes * minuteMs
      return time > from.getTime() && time <= to.getTime()
    }),
  )
}

/**
 * Starts a backup at each of the times of day. It asks the clock again and again, so that a clock that is set costs at most one
 * backup more or less. A time that comes while a backup runs is skipped.
 */
export class BackupSchedule implements AsyncDisposable {
  readonly #schedule: Schedule
  readonly #timer: NodeJS.Timeout
  #seen: Date
  #running: BackupRun | undefined

  constructor(schedule: Schedule, now = new Date()) {
    this.#schedule = schedule
    this.#seen = now
    this.#timer = setInterval(() => this.look(new Date()), tickMs)
  }

  look(now: Date): void {
    const due = isDue(this.#schedule.at, this.#seen, now)
    this.#seen = now
    if (!due) return
    if (this.#running) {
      this.#schedule.say('It is time for a backup, and the last one still runs.', { level: 'warn' })
      return
    }
    const run = this.#schedule.start()
    this.#running = run
    run.ended.finally(() => {
      this.#running = undefined
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    this.#running?.stop()
    await this.#running?.ended
  }
}

/** Runs `stithy backup` in a process of its own, with the settings of this one. */
export function startBackup(say: Notices['say']): BackupRun {
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, 'backup'], {
    env: process.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => void lines.push(line))
  const ended = once(child, 'close').then(
    ([code]) => {
      const text = lines.join(' ')
      if (code === 0) say(text)
      else say(`The backup has failed: ${text}`, { level: 'error', exit_code: code })
    },
    (error: Error) => say(`The backup has not started: ${error.message}`, { level: 'error' }),
  )
  return { ended, stop: () => void child.kill('SIGTERM') }
}
