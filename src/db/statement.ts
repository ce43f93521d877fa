import type { Statement } from './db.ts'

const names = new Map<string, string>()
/** Texts are few; should something make them vary, the rest run unprepared rather than fill the server's memory. */
const maximum = 2000

/**
 * The statement as `pg` takes it: prepared under a name that stands for its text. Those that look for a pattern are
 * planned for their values each time: how rare the pattern is decides which index is right.
 */
export function prepared(statement: Statement): { name?: string; text: string; values: unknown[] } {
  const text = statement.text
  if (text.includes(' ilike ')) return { text, values: statement.values }
  let name = names.get(text)
  if (name === undefined) {
    if (names.size >= maximum) return { text, values: statement.values }
    name = `s${names.size}`
    names.set(text, name)
  }
  return { name, text, values: statement.values }
}
