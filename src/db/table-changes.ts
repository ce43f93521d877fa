import type { Moment } from './moment.ts'

/** Transactions that are remembered for each name. */
const maximum = 32
/** Ids that are remembered for each name. */
const maximumIds = 1_000

/** The last transactions that have changed something, as far as a process has learnt of them. */
class Changes {
  readonly #last: { readonly transaction: string; readonly learnt: number }[] = []
  /** When the last forgotten one was learnt. */
  #forgotten = 0
  /** When the last one was learnt. */
  latest = 0

  add(transaction: string, learnt: number): void {
    this.latest = learnt
    this.#last.push({ transaction, learnt })
    if (this.#last.length > maximum) this.#forgotten = this.#last.shift()!.learnt
  }

  /** Whether one of those that were learnt after `at` was not visible at the moment. */
  isAfter(moment: Moment, at: number): boolean {
    if (this.latest <= at) return false
    if (this.#forgotten > at) return true
    return this.#last.some(({ transaction, learnt }) => learnt > at && !moment.sees(transaction))
  }
}

/**
 * A change: a transaction, the name of what it changed, the holders of the changed rows, and the merge requests that these concern; `-` if there
 * may be others.
 */
export type Change = readonly [transaction: string, name: string, holders: string, mergeRequests: string]

const idsOf = (text: string): number[] | undefined =>
  text === '-' ? undefined : text === '' ? [] : text.split(',').map(Number)

/** Names of which only the rows of some ids matter, and those without one: of projects, and of groups as negative numbers, or of merge requests. */
export type WatchedIds = {
  readonly names: readonly string[]
  readonly ids: ReadonlySet<number>
  /** Rows of any group matter. */
  readonly allGroups?: boolean
}

/** What a row depends on: names of tables and columns, and those of which only some rows matter. */
export type Watched = {
  readonly names: readonly string[]
  readonly byHolder?: WatchedIds
  readonly byMergeRequest?: WatchedIds
}

/** The changes of one name by ids, as in `WatchedIds`. */
class ChangesById {
  /** Of rows whose ids are unknown. */
  readonly #others = new Changes()
  readonly #ofGroups = new Changes()
  /** The last ones that have changed are at the end. */
  readonly #ofId = new Map<number, Changes>()
  /** When the last change was learnt whose id is forgotten. */
  #forgotten = 0

  add(transaction: string, ids: readonly number[] | undefined, learnt: number): void {
    if (!ids) this.#others.add(transaction, learnt)
    for (const id of new Set(ids)) {
      if (id < 0) this.#ofGroups.add(transaction, learnt)
      const changes = this.#ofId.get(id) ?? new Changes()
      changes.add(transaction, learnt)
      this.#ofId.delete(id)
      this.#ofId.set(id, changes)
    }
    while (this.#ofId.size > maximumIds) {
      const [oldest, { latest }] = this.#ofId.entries().next().value!
      this.#forgotten = Math.max(this.#forgotten, latest)
      this.#ofId.delete(oldest)
    }
  }

  isAfter({ ids, allGroups }: WatchedIds, moment: Moment, at: number): boolean {
    if (this.#forgotten > at || this.#others.isAfter(moment, at)) return true
    if (allGroups && this.#ofGroups.isAfter(moment, at)) return true
    for (const id of ids) if (this.#ofId.get(id)?.isAfter(moment, at)) return true
    return false
  }
}

/** Which tables were changed, and in which projects, groups and merge requests, as far as a process has learnt of it. */
export class TableChanges {
  readonly #changes = new Map<string, Changes>()
  readonly #byHolder = new Map<string, ChangesById>()
  readonly #byMergeRequest = new Map<string, ChangesById>()

  add([transaction, name, holders, mergeRequests]: Change, learnt: number): void {
    const changes = this.#changes.get(name) ?? new Changes()
    changes.add(transaction, learnt)
    this.#changes.set(name, changes)
    for (const [byName, ids] of [
      [this.#byHolder, holders],
      [this.#byMergeRequest, mergeRequests],
    ] as const) {
      const byId = byName.get(name) ?? new ChangesById()
      byId.add(transaction, idsOf(ids), learnt)
      byName.set(name, byId)
    }
  }

  /** Whether a transaction that was learnt after `at`, and that the moment did not see, has changed any of them. */
  isAfter({ names, byHolder, byMergeRequest }: Watched, moment: Moment, at: number): boolean {
    for (const name of names) if (this.#changes.get(name)?.isAfter(moment, at)) return true
    for (const name of byHolder?.names ?? []) if (this.#byHolder.get(name)?.isAfter(byHolder!, moment, at)) return true
    for (const name of byMergeRequest?.names ?? [])
      if (this.#byMergeRequest.get(name)?.isAfter(byMergeRequest!, moment, at)) return true
    return false
  }
}
