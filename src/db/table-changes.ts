import { LRUCache } from 'lru-cache'
import type { Moment } from './moment.ts'

/** Transactions that are remembered for each name. */
const maximum = 32
/** Names with a project or group that are remembered. */
const maximumOfHolders = 8_192

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

/** A change: a transaction, the name of what it changed, and the holders of the changed rows, or none if there may be others. */
export type Change = readonly [transaction: string, name: string, holders?: string]

/** Projects, and groups; all groups if they are absent. */
export type Holders = { readonly projects: ReadonlySet<number>; readonly groups?: ReadonlySet<number> | undefined }

/** What a row depends on, as `TableChanges` names it. */
export type Watched = {
  readonly tables: readonly string[]
  /** Tables with one of the holders whose rows matter. */
  readonly ofHolders: readonly string[]
}

/** Changes of rows whose holder is unknown, and those of rows of groups. */
const anyHolder = (name: string): string => `${name} *`
const anyGroup = (name: string): string => `${name} -*`
/** A group has a negative number. */
const ofHolder = (name: string, holder: number | string): string => `${name} ${holder}`

/** The whole tables, or, of those whose changes are recorded by holder, only the rows of these holders and those without one. */
export function watched(
  names: Iterable<string>,
  isByHolder: (name: string) => boolean,
  holders: Holders | undefined,
): Watched {
  const tables: string[] = []
  const ofHolders: string[] = []
  for (const name of names)
    if (!holders || !isByHolder(name)) tables.push(name)
    else {
      tables.push(anyHolder(name))
      for (const project of holders.projects) ofHolders.push(ofHolder(name, project))
      if (!holders.groups) tables.push(anyGroup(name))
      else for (const group of holders.groups) ofHolders.push(ofHolder(name, -group))
    }
  return { tables, ofHolders }
}

/** Which tables were changed, and in which projects and groups, as far as a process has learnt of it. */
export class TableChanges {
  readonly #changes = new Map<string, Changes>()
  /** When the last change of a name was learnt that is forgotten. */
  #forgotten = 0
  readonly #ofHolders = new LRUCache<string, Changes>({
    max: maximumOfHolders,
    dispose: ({ latest }, _, reason) => {
      if (reason === 'evict') this.#forgotten = Math.max(this.#forgotten, latest)
    },
  })

  add([transaction, name, holders]: Change, learnt: number): void {
    const note = (known: Map<string, Changes> | LRUCache<string, Changes>, key: string): void => {
      const changes = known.get(key) ?? new Changes()
      changes.add(transaction, learnt)
      known.set(key, changes)
    }
    note(this.#changes, name)
    if (holders === undefined) return note(this.#changes, anyHolder(name))
    if (holders.includes('-')) note(this.#changes, anyGroup(name))
    for (const holder of new Set(holders.split(','))) note(this.#ofHolders, ofHolder(name, holder))
  }

  /** Whether a transaction that was learnt after `at`, and that the moment did not see, has changed any of them. */
  isAfter({ tables, ofHolders }: Watched, moment: Moment, at: number): boolean {
    for (const name of tables) if (this.#changes.get(name)?.isAfter(moment, at)) return true
    if (ofHolders.length > 0 && this.#forgotten > at) return true
    for (const name of ofHolders) if (this.#ofHolders.peek(name)?.isAfter(moment, at)) return true
    return false
  }
}
