import { randomUUID } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import type { Ctx } from '../../../api/ctx.ts'
import { integer, type RowOf, text } from '../../../db/row.ts'

/**
 * Path of a repository:
 *
 *     <data dir>/repositories/<storage>/
 *       0a7/          the id modulo 4096 in hex, so that no folder grows large
 *         167.git
 *         167.wiki.git
 *     <data dir>/lost+found/
 *       default-167.git-<uuid>    was at the place of a project without its key
 *
 * The path depends on the id, never on a name: renames and transfers move no files, and no input reaches a path.
 */
export function repositoryDir(
  root: string,
  storage: string,
  projectId: number,
  kind: 'project' | 'wiki' = 'project',
): string {
  if (!Number.isSafeInteger(projectId) || projectId <= 0) throw new Error(`not a project id: ${projectId}`)
  if (!/^[a-z0-9_-]{1,50}$/.test(storage)) throw new Error(`not a storage: ${storage}`)
  return join(root, storage, `${diskPath({ id: projectId })}${kind === 'wiki' ? '.wiki' : ''}.git`)
}

/** Path of the repository in its storage, without `.git`. */
export const diskPath = ({ id }: { readonly id: number }): string =>
  `${(id % 4096).toString(16).padStart(3, '0')}/${id}`

/** The columns that determine the path of a project's repository. */
export const placedRow = {
  id: integer,
  repository_storage: text,
}
export type Placed = RowOf<typeof placedRow>

/** With the key that identifies the project's own repository. Load it together with the facts for permissions. */
export const locatedRow = { ...placedRow, repository_key: text }
export type Located = RowOf<typeof locatedRow>

export const projectRepositoryDir = (ctx: Pick<Ctx, 'repositoriesDir'>, project: Placed): string =>
  repositoryDir(ctx.repositoriesDir, project.repository_storage, project.id)

/** Folder of repositories that were at the place of a project without its key. */
export const lostAndFound = (repositoriesDir: string): string => join(dirname(repositoriesDir), 'lost+found')

/** A free name in that folder. */
export const lostName = (repositoriesDir: string, { repository_storage }: Placed, gitDir: string): string =>
  join(lostAndFound(repositoriesDir), `${repository_storage}-${basename(gitDir)}-${randomUUID()}`)
