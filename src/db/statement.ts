import type { Statement } from './db.ts'

/** Text → the name under which it is prepared; `undefined` for texts that are not prepared. */
const names = new Map<string, string | undefined>()
/**
 * Maximum prepared texts. There are few; if a bug made them vary, the rest would run unprepared instead of filling the server's
 * memory.
 */
const maximum = 2000

/**
 * Statements that search for a pattern are planned for their values each time: the selectivity of the pattern decides which index
 * is best.
 */
const isPlannedEachTime = (text: string): boolean => /\silike\s/.test(text)

/** The statement for `pg`: prepared under a name derived from its text. */
export function prepared({ text, values }: Statement): { name?: string; text: string; values: unknown[] } {
  let name = names.get(text)
  if (name === undefined && !names.has(text) && names.size < maximum) {
    name = isPlannedEachTime(text) ? undefined : `s${names.size}`
    names.set(text, name)
  }
  return name === undefined ? { text, values } : { name, text, values }
}
