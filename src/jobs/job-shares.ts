import type { Tx } from '../db/db.ts'
import { unknownCaller } from '../kernel/shares.ts'

const ofCaller = 'caller '

/**
 * Whose share of the slots a job uses, as a flag of its row: that of the caller who caused it, also through other jobs; that of all jobs of
 * its name, if the service itself did, or an anonymous client, whose address is stored nowhere.
 */
export const shareOf = (tx: Pick<Tx, 'share'>, jobName: string): string => {
  const caller = tx.share ?? ''
  return caller === '' || caller.startsWith(unknownCaller) ? `job ${jobName}` : `${ofCaller}${caller}`
}

/** The flags of a row: its share, and the caller, if it is one of a caller. Jobs that the timetable adds have none. */
export function sharesOfRow(flags: object | null): { readonly share?: string; readonly caller?: string } {
  const [share] = Object.keys(flags ?? {})
  if (share === undefined) return {}
  return share.startsWith(ofCaller) ? { share, caller: share.slice(ofCaller.length) } : { share }
}

/**
 * The slots of a runner. A share is used up while it has as many running jobs as slots are free: alone, half of all; so a slot stays free
 * for the next one, until every slot has another share.
 */
export class JobShares {
  readonly #slots: number
  readonly #running = new Map<string, number>()
  #held = 0

  constructor(slots: number) {
    this.#slots = slots
  }

  /** Counts a job that was taken, until the returned function is called; undefined if its share is used up. */
  enter(share: string | undefined): (() => void) | undefined {
    const held = share === undefined ? 0 : (this.#running.get(share) ?? 0)
    if (held > 0 && held >= this.#free) return undefined
    this.#held++
    if (share !== undefined) this.#running.set(share, held + 1)
    return () => {
      this.#held--
      if (share === undefined) return
      const left = this.#running.get(share)! - 1
      if (left === 0) this.#running.delete(share)
      else this.#running.set(share, left)
    }
  }

  /** The shares that are used up: their jobs are not taken, and wait without a slot. */
  get usedUp(): string[] {
    return [...this.#running].flatMap(([share, held]) => (held >= this.#free ? [share] : []))
  }

  get #free(): number {
    return this.#slots - this.#held
  }
}
