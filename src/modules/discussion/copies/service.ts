import type { Tx } from '../../../db/db.ts'
import { Turns } from '../../../kernel/turns.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { copyAround, copyNotes, nextNotes, saveTexts } from './queries.ts'

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
  const turns = new Turns()
  let after = 0
  for (;;) {
    const notes = await nextNotes(tx, to, after)
    if (notes.length === 0) return
    const changed: { readonly id: number; readonly text: string }[] = []
    for (const { id, referring } of notes) {
      if (referring === null) continue
      // Before the next text of a million characters, rather than after the last one.
      if (turns.isOver) await turns.next()
      const text = rewrite(referring)
      if (text !== referring) changed.push({ id, text })
    }
    if (changed.length > 0) await saveTexts(tx, changed)
    after = notes.at(-1)!.id
  }
}
