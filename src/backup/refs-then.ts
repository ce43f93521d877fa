import type { ChangeRow } from './queries.ts'

/** Combinations of undecided changes that are tried. */
const maxUndecided = 8

const absent = ''

/** Whether a push existed at the moment of the snapshot, and in which state. */
type StatesThen = ReadonlyMap<number, string>

/**
 * The target of a ref at the moment of a snapshot, null if it did not exist. `now` is its present target, and `changes` are all changes
 * that have happened to it since then. `before` says which of their pushes existed at that moment, and in which state: the move of a
 * push that was intended then may have come before the moment or after it, and either is right, as after a crash.
 *
 * Each change moves the ref from its old target to its new one, so those after the moment form a path that ends at `now`. Its
 * beginning does not depend on their order: it is the one target that is left more often than it is reached. Undefined if they form no
 * path.
 */
export const targetThen = (
  now: string | null,
  changes: readonly ChangeRow[],
  before: StatesThen,
): string | null | undefined => firstBegin(changes, before, (path) => beginOf(path, now))

/**
 * The same for a ref that pushes are moving, from all changes that were done or intended after `now` was read: the last ones may have
 * happened later, or not at all. A path begins at the same target wherever it ends, so the target is known nevertheless, unless it was
 * left and reached equally often: then it is undefined.
 */
export const targetOfMoving = (
  now: string | null,
  changes: readonly ChangeRow[],
  before: StatesThen,
): string | null | undefined =>
  firstBegin(happened(now, changes), before, (path) => (path.length === 0 ? (now ?? absent) : beginOf(path)))

/** As a restart settles interrupted pushes: a change has happened if the ref is at its end, or if a later change began there. */
export const happened = (now: string | null, changes: readonly ChangeRow[]): ChangeRow[] =>
  changes.filter(
    ({ state, push_id, new_oid }) =>
      state === 'done' ||
      new_oid === now ||
      changes.some((later) => later.push_id > push_id && later.old_oid === new_oid),
  )

/** The beginning that the changes after the moment have, with as few of the undecided ones as possible. */
function firstBegin(
  changes: readonly ChangeRow[],
  before: StatesThen,
  beginOf: (path: readonly ChangeRow[]) => string | undefined,
): string | null | undefined {
  const later = changes.filter(({ push_id }) => before.get(push_id) !== 'done')
  const certain = later.filter(({ push_id }) => !before.has(push_id))
  const undecided = later.filter(({ push_id }) => before.has(push_id)).slice(0, maxUndecided)
  // First without undecided changes: the fewer are set back, the more of the pending pushes complete.
  for (let choice = 0; choice < 2 ** undecided.length; choice++) {
    const chosen = undecided.filter((_, index) => (choice & (1 << index)) !== 0)
    const begin = beginOf([...certain, ...chosen])
    if (begin !== undefined) return begin === absent ? null : begin
  }
  return undefined
}

/** The beginning of the path that ends at `end`, or anywhere without it; undefined if the changes form none. */
function beginOf(changes: readonly ChangeRow[], end?: string | null): string | undefined {
  const left = new Map<string, number>()
  const count = (oid: string | null, by: number) => left.set(oid ?? absent, (left.get(oid ?? absent) ?? 0) + by)
  if (end !== undefined) count(end, 1)
  for (const { old_oid, new_oid } of changes) {
    count(old_oid, 1)
    count(new_oid, -1)
  }
  const begins = [...left].filter(([, times]) => times > 0)
  const ends = [...left].filter(([, times]) => times < 0)
  if (begins.length !== 1 || begins[0]![1] !== 1 || ends.length !== (end === undefined ? 1 : 0)) return undefined
  return begins[0]![0]
}
