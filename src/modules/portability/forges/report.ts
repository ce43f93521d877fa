import type { FailedRelation, ImportReport } from '../../lifecycle/index.ts'
import type { ForgeKind } from './kinds.ts'

/** Entries that are stored. */
const maxEntries = 100

/** Counts what an import reads and stores, and remembers what it leaves out. */
export class Report {
  readonly #fetched = new Map<string, number>()
  readonly #imported = new Map<string, number>()
  readonly #reasons: { kind: string; reason: string }[] = []
  #leftOut = 0

  fetched(kind: string, count = 1): void {
    this.#fetched.set(kind, (this.#fetched.get(kind) ?? 0) + count)
  }

  imported(kind: string, count = 1): void {
    this.#imported.set(kind, (this.#imported.get(kind) ?? 0) + count)
  }

  leftOut(kind: string, reason: string, count = 1): void {
    this.#leftOut += count
    if (this.#reasons.length < maxEntries) this.#reasons.push({ kind, reason })
  }

  stored(type: ForgeKind, now: Date): ImportReport {
    const failedRelations = this.#reasons.map(
      ({ kind, reason }, index): FailedRelation => ({
        id: index + 1,
        created_at: now.toISOString(),
        exception_class: 'LeftOut',
        exception_message: reason,
        source: type,
        relation_name: kind,
      }),
    )
    return {
      type,
      stats: { fetched: inOrder(this.#fetched), imported: inOrder(this.#imported) },
      failedRelations,
    }
  }

  /** For a mail: a line for each kind, and the first reasons. */
  text(): string {
    const counts = [...this.#fetched].toSorted(byName).map(([kind, count]) => {
      const done = this.#imported.get(kind) ?? 0
      return `${kind}: ${done} imported, ${count} read`
    })
    const reasons = this.#reasons.slice(0, 20).map(({ kind, reason }) => `${kind}: ${reason}`)
    const more = this.#leftOut - reasons.length
    return [
      ...(counts.length > 0 ? counts : ['The repository has nothing but its code.']),
      ...(reasons.length > 0 ? ['', 'Left out:', ...reasons] : []),
      ...(reasons.length > 0 && more > 0 ? [`and ${more} more`] : []),
    ].join('\n')
  }
}

const byName = ([a]: readonly [string, number], [b]: readonly [string, number]): number => (a < b ? -1 : 1)

const inOrder = (counts: ReadonlyMap<string, number>): Record<string, number> =>
  Object.fromEntries([...counts].toSorted(byName))
