import { type Busy, idle } from '../kernel/activity.ts'

/** Time for all processes to report before the sum is printed, in ms. */
const gatherMs = 150

/** Says what a stop waits for, whenever that changes. One instance per stop. */
export class ShutdownReport {
  readonly #say: (line: string, busy: Busy) => void
  readonly #reported = new Map<object, Busy>()
  #said = ''
  #timer: NodeJS.Timeout | undefined

  constructor(say: (line: string, busy: Busy) => void) {
    this.#say = say
  }

  /** `process` identifies the process that is as busy as `busy`. */
  update(process: object, busy: Busy): void {
    this.#reported.set(process, busy)
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#print()
    }, gatherMs)
  }

  /** The process has ended. */
  remove(process: object): void {
    if (this.#reported.delete(process) && this.#reported.size === 0) this.end()
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #print(): void {
    const sum: { -readonly [kind in keyof Busy]: number } = { ...idle }
    for (const busy of this.#reported.values())
      for (const kind of Object.keys(sum) as (keyof Busy)[]) sum[kind] += busy[kind]
    const line = waitingFor(sum)
    if (line === undefined || line === this.#said) return
    this.#said = line
    this.#say(`Stopping: waiting for ${line}.`, sum)
  }
}

/** `2 requests, 1 transfer and 3 jobs`; undefined if nothing runs. */
function waitingFor(busy: Busy): string | undefined {
  const parts = (
    [
      ['request', busy.requests],
      ['transfer', busy.transfers],
      ['job', busy.jobs],
    ] as const
  ).flatMap(([noun, count]) => (count === 0 ? [] : [`${count} ${noun}${count === 1 ? '' : 's'}`]))
  if (parts.length === 0) return undefined
  return parts.length === 1 ? parts[0] : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}
