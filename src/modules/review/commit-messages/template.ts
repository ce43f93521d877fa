import { type NewSignature, personText } from '../../../git/objects/objects.ts'

/** Control characters and line breaks: a name or path cannot begin a line, which could be a trailer. */
const breaks = /[\p{Cc}\u2028\u2029]+/gu
export const inLine = (text: string): string => text.replace(breaks, ' ')

type Person = Pick<NewSignature, 'name' | 'email'>

/** `Ann <ann@example.com>` */
export const personInLine = ({ name, email }: Person): string =>
  personText({ name: inLine(name), email: inLine(email) })

/** One line for each person: `Co-authored-by: Ann <ann@example.com>`. */
export const trailers = (name: string, people: readonly Person[]): string =>
  people.map((person) => `${name}: ${personInLine(person)}`).join('\n')

/** Maximum characters of a message: placeholders may be repeated. */
const mostCharacters = 100_000

const placeholder = /%\{(\w{1,40})\}/g

/** The names of the placeholders in a template. */
export const namesIn = (template: string): ReadonlySet<string> =>
  new Set(Array.from(template.matchAll(placeholder), ([, name]) => name!))

/**
 * Replaces `%{name}` in the template of a commit message. Unknown placeholders stay as written. A line of which nothing is left is omitted,
 * and with it a blank line before, if none but a blank line follows.
 */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  // What would be cut is not made: a template of many placeholders for a long text could be too long for a string.
  let left = mostCharacters
  const fill = (written: string, name: string): string => {
    const value = (Object.hasOwn(values, name) ? values[name]! : written).slice(0, left)
    left -= value.length
    return value
  }
  const given = template.split(/\r?\n/)
  const filled: string[] = []
  for (const [index, line] of given.entries()) {
    const text = line.replace(placeholder, fill)
    if (text.trim() === '' && line.trim() !== '') {
      if (filled.at(-1)?.trim() === '' && !given[index + 1]?.trim()) filled.pop()
    } else filled.push(text)
  }
  return filled.join('\n').trim().slice(0, mostCharacters)
}
