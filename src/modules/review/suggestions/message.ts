import { personText } from '../../../git/objects/objects.ts'

/** What the placeholders of a commit message stand for. */
export type MessageParts = {
  readonly branch_name: string
  readonly file_paths: readonly string[]
  readonly project_name: string
  readonly project_path: string
  readonly suggestions_count: number
  readonly user_full_name: string
  readonly username: string
  /** Authors of suggestions other than the user who applies them. */
  readonly co_authors: readonly { readonly name: string; readonly email: string }[]
}

const usual = 'Apply %{suggestions_count} suggestion(s) to %{files_count} file(s)\n\n%{co_authored_by}'

/** Control characters and line breaks: a name or path cannot begin a line, which could be a trailer. */
const breaks = /[\p{Cc}\u2028\u2029]+/gu
const inLine = (text: string): string => text.replace(breaks, ' ')

/** Maximum characters of a message: placeholders may be repeated. */
const mostCharacters = 100_000

/**
 * The message of a commit that applies suggestions, from the template of the request or of the project. Unknown placeholders stay as
 * written.
 */
export function suggestionMessage(template: string | null | undefined, parts: MessageParts): string {
  const { file_paths, co_authors, suggestions_count, ...names } = parts
  const values: Readonly<Record<string, string>> = {
    ...Object.fromEntries(Object.entries(names).map(([name, value]) => [name, inLine(value)])),
    suggestions_count: String(suggestions_count),
    files_count: String(file_paths.length),
    file_path: inLine(file_paths.join(', ')),
    file_paths: inLine(file_paths.join(', ')),
    co_authored_by: co_authors
      .map(({ name, email }) => `Co-authored-by: ${personText({ name: inLine(name), email: inLine(email) })}`)
      .join('\n'),
  }
  // What would be cut is not made: a template of many placeholders for a long path could be too long for a string.
  let left = mostCharacters
  const named = (template?.trim() ? template : usual).replace(/%\{(\w{1,40})\}/g, (written, name: string) => {
    const value = (Object.hasOwn(values, name) ? values[name]! : written).slice(0, left)
    left -= value.length
    return value
  })
  return named.trim().slice(0, mostCharacters)
}
