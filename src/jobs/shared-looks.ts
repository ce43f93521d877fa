import type pg from 'pg'
import { within } from '../kernel/late.ts'

/** Milliseconds for which a look that found nothing counts. A job that is due after a delay may wait that long. */
const countsMs = 100

/** Maximum milliseconds that a look waits for an earlier one: the connection of that one may be broken. */
const patienceMs = 1000

type Looked = Pick<pg.QueryResult, 'rows'>

/** A look that found nothing, the changes when it was sent, and when it ended. */
type Empty = { readonly looked: Looked; readonly changes: number; readonly at: number }

/** Looks for the same jobs. */
type Kind = { last: Promise<unknown> | undefined; empty: Empty | undefined }

/**
 * Looks of free slots for a job that is due. Several slots look after each notification, and each after every job; most find nothing. They
 * look one after another, and where nothing has changed since a look that found nothing was sent, the next one is not sent.
 */
export class SharedLooks {
  readonly #kinds = new Map<string, Kind>()
  #changes = 0

  /** A job may be due that was not. */
  changed(): void {
    this.#changes++
  }

  /** `send` looks for jobs of `kind`. */
  look<T extends Looked>(kind: string, send: () => Promise<T>): Promise<T> {
    let state = this.#kinds.get(kind)
    if (!state) this.#kinds.set(kind, (state = { last: undefined, empty: undefined }))
    const looked = this.#after(state.last, state, send) as Promise<T>
    const last = looked
      .catch(() => {})
      .then(() => {
        if (state.last === last) state.last = undefined
      })
    state.last = last
    return looked
  }

  async #after(earlier: Promise<unknown> | undefined, state: Kind, send: () => Promise<Looked>): Promise<Looked> {
    if (earlier) await within(patienceMs, earlier, () => {})
    const { empty } = state
    if (empty?.changes === this.#changes && performance.now() - empty.at < countsMs) return empty.looked
    const changes = this.#changes
    const looked = await send()
    state.empty = looked.rows.length === 0 ? { looked, changes, at: performance.now() } : undefined
    return looked
  }
}
