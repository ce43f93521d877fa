import type { Oid } from '../../../git/format/oid.ts'
import { isReadByGit, isSafePath } from '../../../git/format/safe-path.ts'
import { readBlob } from '../../../git/objects/blobs.ts'
import { type FileOfGit, passChecks } from '../../../git/objects/file-check.ts'
import { type NewObject, newObject } from '../../../git/objects/objects.ts'
import type { TreeEdit } from '../../../git/objects/tree-edit.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { invalid } from '../../../kernel/failure.ts'
import { Turns } from '../../../kernel/turns.ts'

/** A change of a file, or of a submodule (`point`). Parameters that an action does not use are ignored. */
export type FileAction = {
  readonly action: 'create' | 'update' | 'delete' | 'move' | 'chmod' | 'point'
  readonly file_path: string
  /** Path of a moved file before the move. */
  readonly previous_path?: string
  readonly content?: string
  /** Instead of `content`: makes the new content from the current one of the branch. Called again after a lost race. */
  readonly rewrite?: (content: Buffer) => Buffer
  readonly encoding?: 'text' | 'base64'
  readonly last_commit_id?: string
  readonly execute_filemode?: boolean
  /** New target of a submodule. */
  readonly commit?: Oid
}

/** The path of the file before the action. */
export const pathBefore = ({ action, file_path, previous_path }: FileAction): string =>
  action === 'move' ? (previous_path ?? '') : file_path

/** All paths that the action reads or writes. */
export const touchedPaths = (action: FileAction): string[] =>
  action.action === 'move' ? [pathBefore(action), action.file_path] : [action.file_path]

const submodule = '160000'
const directory = '040000'

/**
 * Applies actions to a tree in order. Returns the new contents, which are not stored yet. Throws at the first action
 * that cannot be applied. `stored` maps the content of a new file to the committed content, which differs for large
 * files. Starts no process, unless a file is written that git itself reads.
 */
export async function applyActions(
  repo: Repository,
  tree: TreeEdit,
  actions: readonly FileAction[],
  stored: Stored = (_path, content) => content,
): Promise<NewObject[]> {
  const contents = new Map<Oid, NewObject>()
  const toCheck = new Map<string, FileOfGit>()
  const put = async (path: string, mode: string, content: Buffer | Oid): Promise<void> => {
    const object = typeof content === 'string' ? contents.get(content) : newObject('blob', content)
    const oid = typeof content === 'string' ? content : object!.oid
    if (object) contents.set(oid, object)
    const name = path.slice(path.lastIndexOf('/') + 1)
    if (isReadByGit(name) && mode === submodule) throw invalid(`invalid path: '${path}'`)
    if (isReadByGit(name)) toCheck.set(path, { name, mode, blob: object ?? (await storedBlob(repo, oid)) })
    await tree.put(path, { mode, oid })
  }
  const turns = new Turns()
  for (const action of actions) {
    await applyAction(repo, tree, action, put, stored)
    if (turns.isOver) await turns.next()
  }
  for (const [path, file] of toCheck) if (!(await passChecks(repo, [file]))) throw invalid(`invalid file: '${path}'`)
  return [...contents.values()]
}

/** The content of a file as it is. */
async function storedBlob(repo: Repository, oid: Oid): Promise<NewObject> {
  const blob = await readBlob(repo, oid)
  if (!blob) throw new Error(`the blob ${oid} is missing`)
  return newObject('blob', blob.content)
}

type Stored = (path: string, content: Buffer) => Buffer
type Put = (path: string, mode: string, content: Buffer | Oid) => Promise<void>

async function applyAction(
  repo: Repository,
  tree: TreeEdit,
  action: FileAction,
  put: Put,
  stored: Stored,
): Promise<void> {
  const path = action.file_path
  requirePath(path)
  if (action.action === 'create') {
    await requireFree(tree, path)
    return put(path, '100644', stored(path, contentOf(action)))
  }
  const before = pathBefore(action)
  requirePath(before)
  const found = await tree.find(before)
  if (action.action === 'point') {
    if (found?.mode !== submodule) throw invalid('Invalid submodule path')
    if (found.oid === action.commit) throw invalid(`The submodule ${path} is already at ${found.oid}`)
    return tree.put(path, { mode: submodule, oid: action.commit! })
  }
  if (found?.oid === undefined) throw missing()
  switch (action.action) {
    case 'delete':
      return tree.remove(before)
    case 'update':
      if (found.mode === submodule) throw missing()
      if (action.rewrite) return put(path, found.mode, action.rewrite((await storedBlob(repo, found.oid)).content))
      return put(path, found.mode, contentOf(action))
    case 'chmod':
      // Links and submodules have no executable bit.
      if (!found.mode.startsWith('100')) throw missing()
      return put(path, action.execute_filemode ? '100755' : '100644', found.oid)
    case 'move': {
      if (action.content !== undefined && found.mode === submodule) throw missing()
      await requireFree(tree, path, before)
      await tree.remove(before)
      return put(path, found.mode, action.content === undefined ? found.oid : contentOf(action))
    }
  }
}

const missing = () => invalid("A file with this name doesn't exist")

function requirePath(path: string): void {
  if (path === '') throw invalid('You must provide a file path')
  if (path.split(/[/\\]/).includes('..')) throw invalid('Path cannot include directory traversal')
}

/** Throws `invalid` unless a file can be created at the path; `except` is about to be removed. */
async function requireFree(tree: TreeEdit, path: string, except?: string): Promise<void> {
  const found = await tree.find(path)
  if (found) throw invalid(`A ${found.mode === directory ? 'directory' : 'file'} with this name already exists`)
  // A file in place of a needed directory is an error too; it is not replaced silently.
  if ((await tree.isBlocked(path)) && !(except !== undefined && path.startsWith(`${except}/`)))
    throw invalid('A file with this name already exists')
  if (!isSafePath(path) || path.split('/').slice(0, -1).some(isReadByGit)) throw invalid(`invalid path: '${path}'`)
}

function contentOf({ content = '', encoding }: FileAction): Buffer {
  if (encoding !== 'base64') return Buffer.from(content)
  if (!isBase64(content)) throw invalid('The content is not valid Base64')
  return Buffer.from(content, 'base64')
}

/**
 * Whether text is Base64 as clients send it: with line breaks, possibly without padding. Node skips other characters and what is left of
 * a group, which would store a different content: a blank is a `+` that a form did not encode.
 */
function isBase64(content: string): boolean {
  const text = content.replaceAll(/[\r\n]+/g, '')
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return false
  const digits = text.length - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0)
  return digits % 4 !== 1 && (digits === text.length || text.length % 4 === 0)
}
