import {
  FilePath,
  Filled,
  List,
  Nullable,
  OneOf,
  Optional,
  Params,
  Text,
  Timestamp,
} from '../../../api/params/types.ts'
import type { FileAction, FileChange } from './changes.ts'

/** Contents are in the body; larger files must be pushed with git. */
export const maxBodyBytes = 64 * 1024 * 1024

/** A request that replaces all files deletes and creates each; more are a mistake. */
const mostActions = 100

const levels = ['private', 'internal', 'public'] as const

export const visibility = OneOf(levels, { description: 'Who may read it' })

const filePath = (description: string) => FilePath({ blank: false, description })
const content = Filled({ description: 'Content of its only file' })

/** Name and content of the only file, in several spellings. */
const only = {
  file_name: Optional(filePath('Name of its only file')),
  content: Optional(content),
  code: Optional(Filled({ deprecated: true, description: 'Older name of `content`' })),
}

const exclusive = [
  ['files', 'content'],
  ['files', 'file_name'],
  ['files', 'code'],
] as const

export const description = Text({ description: 'Description in Markdown' })

export const createParams = {
  title: Filled({ description: 'Title of the snippet' }),
  description: Optional(description),
  ...only,
  files: Optional(
    List(
      Params({
        file_path: filePath('Path of the file'),
        content: Filled({ description: 'Content of the file' }),
      }),
      {
        blank: false,
        maxItems: mostActions,
        description: 'Several files, at most 10, instead of `file_name` and `content`, which are not required then',
      },
    ),
  ),
}

export const createRules = {
  mutuallyExclusive: exclusive,
  requiredUnless: [
    { name: 'file_name', given: ['files'] },
    { name: 'content', given: ['code', 'files'] },
  ],
} as const

export const editParams = {
  title: Optional(Filled({ description: 'Title of the snippet' })),
  description: Optional(Nullable(description)),
  visibility: Optional(visibility),
  ...only,
  files: Optional(
    List(
      Params(
        {
          action: OneOf(['create', 'update', 'delete', 'move'], { description: 'What to do with the file' }),
          file_path: filePath('Path of the file, after a move'),
          previous_path: Optional(filePath('Path of a moved file before the move')),
          content: Optional(Text({ description: 'New content of the file' })),
        },
        {
          needed: [
            { name: 'action', is: 'create', needs: 'content' },
            { name: 'action', is: 'update', needs: 'content' },
            { name: 'action', is: 'move', needs: 'previous_path' },
          ],
        },
      ),
      { blank: false, maxItems: mostActions, description: 'Changes of files, instead of `file_name` and `content`' },
    ),
  ),
}

export const editRules = {
  atLeastOneOf: ['title', 'file_name', 'description', 'content', 'visibility', 'files', 'code'],
  mutuallyExclusive: exclusive,
} as const

type Named = {
  readonly file_name?: string
  readonly content?: string
  readonly code?: string
}

/** The files of a new snippet; `createRules` require them. */
export const newFiles = ({
  file_name,
  content,
  code,
  files,
}: Named & { readonly files?: readonly { readonly file_path: string; readonly content: string }[] }): FileChange =>
  files
    ? { actions: files.map((file) => ({ action: 'create', ...file })) }
    : { fileName: file_name, content: content ?? code }

/** What an update changes of the files; undefined for nothing. */
export function changedFiles({
  file_name,
  content,
  code,
  files,
}: Named & { readonly files?: readonly FileAction[] }): FileChange | undefined {
  if (files) return { actions: files }
  const given = content ?? code
  return file_name === undefined && given === undefined ? undefined : { fileName: file_name, content: given }
}

export const createdParams = {
  created_after: Optional(Timestamp({ description: 'Only those created after this time' })),
  created_before: Optional(Timestamp({ description: 'Only those created before this time' })),
}
