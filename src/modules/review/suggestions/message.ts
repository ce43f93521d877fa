import { fillTemplate, inLine, trailers } from '../commit-messages/template.ts'

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

/** The message of a commit that applies suggestions, from the template of the request or of the project. */
export function suggestionMessage(template: string | null | undefined, parts: MessageParts): string {
  const { file_paths, co_authors, suggestions_count, ...names } = parts
  return fillTemplate(template?.trim() ? template : usual, {
    ...Object.fromEntries(Object.entries(names).map(([name, value]) => [name, inLine(value)])),
    suggestions_count: String(suggestions_count),
    files_count: String(file_paths.length),
    file_path: inLine(file_paths.join(', ')),
    file_paths: inLine(file_paths.join(', ')),
    co_authored_by: trailers('Co-authored-by', co_authors),
  })
}
