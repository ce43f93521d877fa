import type { Tx } from '../../../db/db.ts'
import { kindOf } from '../noteables/kinds.ts'
import { pathWithin } from '../noteables/reference.ts'
import { insertCrossReference } from '../notes/cross-reference-queries.ts'
import type { NamedRow } from './service.ts'

/** A noteable that gets a note, and the text of that around the name of the other noteable. */
export type Side = { readonly on: NamedRow; readonly text: (other: string) => string }

/** Adds a system note to each of two noteables. It names the other noteable, and is shown to users who may read that. */
export async function addNotesOnBothSides(
  tx: Tx,
  authorId: number,
  [one, other]: readonly [one: Side, other: Side],
): Promise<void> {
  for (const [{ on, text }, { on: source }] of [
    [one, other],
    [other, one],
  ] as const)
    await insertCrossReference(tx, on, {
      authorId,
      body: text(nameWithin(on, source)),
      source: { noteable: source },
      repeats: true,
    })
}

/** The shortest name of a noteable in texts of another one. */
function nameWithin({ holder, full_path }: NamedRow, named: NamedRow): string {
  const path = pathWithin({ ...named.holder, full_path: named.full_path }, { ...holder, full_path })
  return `${path}${kindOf(named.type).sign}${named.iid}`
}
