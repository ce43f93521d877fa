import type { Statement } from './db.ts'

/** Text → the name it is prepared under; `undefined` for those that are not. */
const names = new Map<string, string | undefined>()
/** Texts are few; should something make them vary, the rest run unprepared rather than fill the server's memory. */
const maximum = 2000

/**
 * Statements that look for a pattern are planned for their values each time: how rare the pattern is decides which index
 * is right.
 */
const isPlannedEachTime = (text: string): boolean => /\silike\s/.test(text)

/** The statement as `pg` takes it: prepared under a name that stands for its text. */
export function prepared({ text, values }: Statement): { name?: string; text: string; values: unknown[] } {
  let name = names.get(text)
  if (name === undefined && !names.has(text) && names.size < maximum) {
    name = isPlannedEachTime(text) ? undefined : `s${names.size}`
    names.set(text, name)
  }
  return name === undefined ? { text, values } : { name, text, values }
}
