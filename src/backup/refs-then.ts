import type { ChangeRow } from './queries.ts'

/** Combinations of undecided changes that are tried. */
const maxUndecided = 8

const absent = ''

/**
 * The target of a ref at the moment of a snapshot, null if it did not exist. `now` is its present target, and `changes` are all changes
 * that have happened to it since then. `before` says which of their pushes existed at that moment, and in which state: the move of a
 * push that was intended then may have come before the moment or after it, and either is right, as after a crash.
 *
 * Each change moves the ref from its old target to its new one, so those after the moment form a path that ends at `now`. Its
 * beginning does not depend on their order: it is the one target that is left more often than it is reached. Undefined if they form no
 * path.
 */
export function targetThen(
  now: string | null,
  changes: readonly ChangeRow[],
  before: ReadonlyMap<number, string>,
): string | null | undefined {
  const later = changes.filter(({ push_id }) => before.get(push_id) !== 'done')
  const certain = later.filter(({ push_id }) => !before.has(push_id))
  const undecided = later.filter(({ push_id }) => before.has(push_id)).slice(0, maxUndecided)
  // First without undecided changes: the fewer are set back, the more of the pending pushes complete.
  for (let choice = 0; choice < 2 ** undecided.length; choice++) {
    const chosen = undecided.filter((_, index) => (choice & (1 << index)) !== 0)
    const begin = beginOf(now, [...certain, ...chosen])
    if (begin !== undefined) return begin === absent ? null : begin
  }
  return undefined
}

/** The beginning of the path; undefined if the changes form none. */
function beginOf(end: string | null, changes: readonly ChangeRow[]): string | undefined {
  const left = new Map<string, number>()
  const count = (oid: string | null, by: number) => left.set(oid ?? absent, (left.get(oid ?? absent) ?? 0) + by)
  count(end, 1)
  for (const { old_oid, new_oid } of changes) {
    count(old_oid, 1)
    count(new_oid, -1)
  }
  const unequal = [...left].filter(([, times]) => times !== 0)
  return unequal.length === 1 && unequal[0]![1] === 1 ? unequal[0]![0] : undefined
}
