import { randomUUID } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import type { Ctx } from '../../../api/ctx.ts'
import { integer, type RowOf, text } from '../../../db/row.ts'
import { namesIn } from '../../../kernel/missing.ts'

/** Whether a storage may have this name. */
export const isStorageName = (text: string): boolean => /^[a-z0-9_-]{1,50}$/.test(text)

/**
 * Path of a repository:
 *
 *     <data dir>/repositories/<storage>/
 *       0a7/          the id modulo 4096 in hex, so that no folder grows large
 *         167.git
 *       side/         side repositories (wikis and snippets), which have ids of their own
 *         0a7/
 *           167.git
 *     <data dir>/lost+found/
 *       default-167.git-<uuid>         was at the place of a project without its key
 *       default-side-167.git-<uuid>    was at the place of a side repository without its key
 *
 * The path depends on the id, never on a name: renames and transfers move no files, and no input reaches a path.
 */
export function repositoryDir(root: string, storage: string, id: number, kind: 'project' | 'side' = 'project'): string {
  if (!Number.isSafeInteger(id) || id <= 0) throw new Error(`not the id of a repository: ${id}`)
  if (!isStorageName(storage)) throw new Error(`not a storage: ${storage}`)
  return join(root, storage, kind === 'side' ? sideFolder : '', `${diskPath({ id })}.git`)
}

/** The folder of side repositories in a storage; no shard has its name. */
const sideFolder = 'side'

/** The names of storages. Other entries, such as `lost+found` of a disk that is mounted there, are none. */
export const storagesIn = async (repositoriesDir: string): Promise<string[]> =>
  (await namesIn(repositoriesDir)).filter(isStorageName)

const isShard = (name: string): boolean => /^[0-9a-f]{3}$/.test(name)

/** The folders of a storage that contain repositories: of projects, or of side repositories. Other entries are not ours. */
export async function shardsOf(storageDir: string, of: 'projects' | 'side'): Promise<string[]> {
  const above = of === 'side' ? join(storageDir, sideFolder) : storageDir
  return (await namesIn(above)).filter(isShard).map((name) => join(above, name))
}

/** The repositories in such a folder. Others, such as one that is being imported, are none of a project yet. */
export const repositoriesIn = async (shard: string): Promise<string[]> =>
  (await namesIn(shard)).filter((name) => /^\d+\.git$/.test(name)).map((name) => join(shard, name))

/** Path of the repository in its storage, without `.git`. */
export const diskPath = ({ id }: { readonly id: number }): string =>
  `${(id % 4096).toString(16).padStart(3, '0')}/${id}`

/** The columns that determine the path of a project's repository. */
export const placedRow = {
  id: integer,
  repository_storage: text,
}
/** A project, or with `side` a side repository. */
export type Placed = RowOf<typeof placedRow> & { readonly side?: boolean }

/** With the key that identifies its own repository. Load it together with the facts for permissions. */
export const locatedRow = { ...placedRow, repository_key: text }
export type Located = RowOf<typeof locatedRow> & { readonly side?: boolean }

export const projectRepositoryDir = (ctx: Pick<Ctx, 'repositoriesDir'>, placed: Placed): string =>
  repositoryDir(ctx.repositoriesDir, placed.repository_storage, placed.id, placed.side ? 'side' : 'project')

/** Folder of repositories that were at the place of another without its key. */
export const lostAndFound = (repositoriesDir: string): string => join(dirname(repositoriesDir), 'lost+found')

/** A free name in that folder. */
export const lostName = (repositoriesDir: string, { repository_storage, side }: Placed, gitDir: string): string =>
  join(
    lostAndFound(repositoriesDir),
    `${repository_storage}-${side ? `${sideFolder}-` : ''}${basename(gitDir)}-${randomUUID()}`,
  )
