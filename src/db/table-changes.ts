import type { Moment } from './moment.ts'

/** Transactions that are remembered for each name. */
const maximum = 32
/** Holders that are remembered for each name. */
const maximumHolders = 1_000

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

/** Projects, and groups and merge requests; all of those if they are absent. */
export type Holders = {
  readonly projects: ReadonlySet<number>
  readonly groups?: ReadonlySet<number> | undefined
  readonly mergeRequests?: ReadonlySet<number> | undefined
}

/** What a row depends on: names of tables and columns, and those of which only the rows of some holders matter, and rows without one. */
export type Watched = {
  readonly names: readonly string[]
  readonly byHolder?: readonly string[]
  /** Names of which only what concerns the merge requests of `holders` matters. */
  readonly byMergeRequest?: readonly string[]
  readonly holders?: Holders
}

/** The changes of one name by holder: a project or group, or a merge request. */
class ChangesByHolder {
  /** Of rows whose holder is unknown. */
  readonly #others = new Changes()
  readonly #ofGroups = new Changes()
  /** Groups have negative numbers. The last ones that have changed are at the end. */
  readonly #ofHolder = new Map<number, Changes>()
  /** When the last change of a holder was learnt that is forgotten. */
  #forgotten = 0

  add(transaction: string, holders: readonly number[] | undefined, learnt: number): void {
    if (!holders) this.#others.add(transaction, learnt)
    for (const holder of new Set(holders)) {
      if (holder < 0) this.#ofGroups.add(transaction, learnt)
      const changes = this.#ofHolder.get(holder) ?? new Changes()
      changes.add(transaction, learnt)
      this.#ofHolder.delete(holder)
      this.#ofHolder.set(holder, changes)
    }
    while (this.#ofHolder.size > maximumHolders) {
      const [oldest, { latest }] = this.#ofHolder.entries().next().value!
      this.#forgotten = Math.max(this.#forgotten, latest)
      this.#ofHolder.delete(oldest)
    }
  }

  isAfter({ projects, groups }: Omit<Holders, 'mergeRequests'>, moment: Moment, at: number): boolean {
    if (this.#forgotten > at || this.#others.isAfter(moment, at)) return true
    if (!groups && this.#ofGroups.isAfter(moment, at)) return true
    for (const project of projects) if (this.#ofHolder.get(project)?.isAfter(moment, at)) return true
    for (const group of groups ?? []) if (this.#ofHolder.get(-group)?.isAfter(moment, at)) return true
    return false
  }
}

const none: ReadonlySet<number> = new Set()

/** Which tables were changed, and in which projects and groups, as far as a process has learnt of it. */
export class TableChanges {
  readonly #changes = new Map<string, Changes>()
  readonly #byHolder = new Map<string, ChangesByHolder>()
  readonly #byMergeRequest = new Map<string, ChangesByHolder>()

  add([transaction, name, holders, mergeRequests]: Change, learnt: number): void {
    const changes = this.#changes.get(name) ?? new Changes()
    changes.add(transaction, learnt)
    this.#changes.set(name, changes)
    for (const [byHolder, ids] of [
      [this.#byHolder, holders],
      [this.#byMergeRequest, mergeRequests],
    ] as const) {
      const ofName = byHolder.get(name) ?? new ChangesByHolder()
      ofName.add(transaction, idsOf(ids), learnt)
      byHolder.set(name, ofName)
    }
  }

  /** Whether a transaction that was learnt after `at`, and that the moment did not see, has changed any of them. */
  isAfter({ names, byHolder = [], byMergeRequest = [], holders }: Watched, moment: Moment, at: number): boolean {
    for (const name of names) if (this.#changes.get(name)?.isAfter(moment, at)) return true
    for (const name of byHolder) if (this.#byHolder.get(name)?.isAfter(holders!, moment, at)) return true
    if (byMergeRequest.length === 0) return false
    const concerned = { projects: holders!.mergeRequests!, groups: none }
    for (const name of byMergeRequest) if (this.#byMergeRequest.get(name)?.isAfter(concerned, moment, at)) return true
    return false
  }
}
