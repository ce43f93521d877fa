import type { Tx } from '../../../db/db.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { copyAround, copyNotes, referringNotes, saveTexts } from './queries.ts'

/**
 * Copies what was said about a noteable to another one: notes with their awards, and with `around` also its own awards,
 * subscriptions and logged time. `rewrite` adapts each text that may refer to something to the new project or group. Both rows are locked.
 */
export async function copyDiscussion(
  tx: Tx,
  from: Noteable,
  to: Noteable,
  { around, rewrite }: { readonly around: boolean; readonly rewrite: (text: string) => string },
): Promise<void> {
  await copyNotes(tx, from, to)
  if (around) await copyAround(tx, from, to)
  let after = 0
  for (;;) {
    const notes = await referringNotes(tx, to, after)
    if (notes.length === 0) return
    const changed = notes.map(({ id, body }) => ({ id, text: rewrite(body), body }))
    await saveTexts(
      tx,
      changed.filter(({ text, body }) => text !== body),
    )
    after = notes.at(-1)!.id
  }
}
