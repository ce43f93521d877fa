import { isSafePath } from '../../../git/format/safe-path.ts'
import { invalid } from '../../../kernel/failure.ts'
import { maxFiles } from './branch.ts'

/** A change of one file of a snippet. */
export type FileAction = {
  readonly action: 'create' | 'update' | 'delete' | 'move'
  readonly file_path: string
  /** Path of a moved file before the move. */
  readonly previous_path?: string
  readonly content?: string
}

/** What a request changes: actions on files, or name and content of its only file. */
export type FileChange =
  | { readonly actions: readonly FileAction[] }
  | { readonly fileName: string | undefined; readonly content: string | undefined }

/** A file after a change: with new content, or that of a file before the change. */
type Changed = { readonly content: Buffer } | { readonly from: string }

/** One write to the repository; null deletes the file. */
export type FileWrite = { readonly path: string; readonly write: Changed | null }

/**
 * The writes that turn the files with these paths into what a request asks for: at most one for each path, none for what stays.
 * `from` names a path before the change. Throws `invalid` at the first action that cannot be applied.
 */
export function writesOf(current: readonly string[], change: FileChange): FileWrite[] {
  const files = new Map<string, Changed>(current.map((path) => [path, { from: path }]))
  const actions = 'actions' in change ? change.actions : actionsOnOnly(current, change)
  for (const action of actions) apply(files, action)
  if (files.size === 0) throw invalid('The repository must contain at least 1 file.')
  if (files.size > maxFiles) throw invalid(`The repository can contain at most ${maxFiles} file(s).`)
  for (const path of files.keys()) requirePlace(files, path)
  const written = [...files].filter(([path, file]) => !('from' in file && file.from === path))
  return [
    ...current.filter((path) => !files.has(path)).map((path) => ({ path, write: null })),
    ...written.map(([path, write]) => ({ path, write })),
  ]
}

/** The parameters `file_name` and `content` as an action on the only file. */
function actionsOnOnly(
  current: readonly string[],
  { fileName, content }: Extract<FileChange, { fileName: unknown }>,
): FileAction[] {
  const [only, ...others] = current
  if (only === undefined) return [{ action: 'create', file_path: fileName ?? '', ...given(content) }]
  if (others.length > 0) throw invalid('To update snippet with multiple files, you must use the `files` parameter')
  return fileName === undefined || fileName === only
    ? [{ action: 'update', file_path: only, ...given(content) }]
    : [{ action: 'move', file_path: fileName, previous_path: only, ...given(content) }]
}

const given = (content: string | undefined) => (content === undefined ? {} : { content })

function apply(files: Map<string, Changed>, { action, file_path: path, previous_path, content }: FileAction): void {
  requirePath(path)
  const before = action === 'move' ? (previous_path ?? '') : path
  const found = files.get(before)
  const written = content === undefined ? undefined : { content: Buffer.from(content) }
  if (action === 'create') {
    if (found) throw invalid('A file with this name already exists')
    return void files.set(path, written ?? { content: Buffer.alloc(0) })
  }
  if (!found) throw invalid("A file with this name doesn't exist")
  if (action === 'update') return void files.set(path, written ?? found)
  files.delete(before)
  if (action === 'delete') return
  if (files.has(path)) throw invalid('A file with this name already exists')
  files.set(path, written ?? found)
}

function requirePath(path: string): void {
  if (path.split(/[/\\]/).includes('..')) throw invalid('Path cannot include directory traversal')
  if (!isSafePath(path)) throw invalid(`invalid path: '${path}'`)
}

/** A file is not where another one needs a directory. */
function requirePlace(files: ReadonlyMap<string, unknown>, path: string): void {
  const parts = path.split('/')
  for (let depth = 1; depth < parts.length; depth++)
    if (files.has(parts.slice(0, depth).join('/'))) throw invalid('A file with this name already exists')
}
