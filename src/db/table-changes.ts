import { LRUCache } from 'lru-cache'
import type { Moment } from './moment.ts'

/** Transactions that are remembered for each name. */
const maximum = 32
/** Names with a project that are remembered. */
const maximumOfProjects = 4_096

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

/** A change: a transaction, the name of what it changed, and the projects of the changed rows, or none if rows of any may have been. */
export type Change = readonly [transaction: string, name: string, projects?: string]

/** What a row depends on, as `TableChanges` names it. */
export type Watched = {
  readonly tables: readonly string[]
  /** Tables with one of the projects whose rows matter. */
  readonly ofProjects: readonly string[]
}

const anyProject = (name: string): string => `${name} *`
const ofProject = (name: string, project: number | string): string => `${name} ${project}`

/** The whole tables, or, of those whose changes are recorded by project, only the rows of these projects and those without one. */
export function watched(
  names: Iterable<string>,
  isByProject: (name: string) => boolean,
  projects: ReadonlySet<number> | undefined,
): Watched {
  const tables: string[] = []
  const ofProjects: string[] = []
  for (const name of names)
    if (!projects || !isByProject(name)) tables.push(name)
    else {
      tables.push(anyProject(name))
      for (const project of projects) ofProjects.push(ofProject(name, project))
    }
  return { tables, ofProjects }
}

/** Which tables were changed, and in which projects, as far as a process has learnt of it. */
export class TableChanges {
  readonly #changes = new Map<string, Changes>()
  /** When the last change of a name was learnt that is forgotten. */
  #forgotten = 0
  readonly #ofProjects = new LRUCache<string, Changes>({
    max: maximumOfProjects,
    dispose: ({ latest }, _, reason) => {
      if (reason === 'evict') this.#forgotten = Math.max(this.#forgotten, latest)
    },
  })

  add([transaction, name, projects]: Change, learnt: number): void {
    const note = (known: Map<string, Changes> | LRUCache<string, Changes>, key: string): void => {
      const changes = known.get(key) ?? new Changes()
      changes.add(transaction, learnt)
      known.set(key, changes)
    }
    note(this.#changes, name)
    if (projects === undefined) note(this.#changes, anyProject(name))
    else for (const project of new Set(projects.split(','))) note(this.#ofProjects, ofProject(name, project))
  }

  /** Whether a transaction that was learnt after `at`, and that the moment did not see, has changed any of them. */
  isAfter({ tables, ofProjects }: Watched, moment: Moment, at: number): boolean {
    for (const name of tables) if (this.#changes.get(name)?.isAfter(moment, at)) return true
    if (ofProjects.length > 0 && this.#forgotten > at) return true
    for (const name of ofProjects) if (this.#ofProjects.peek(name)?.isAfter(moment, at)) return true
    return false
  }
}
