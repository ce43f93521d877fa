import { randomUUID } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import type { Ctx } from '../../../api/ctx.ts'
import { integer, type RowOf, text } from '../../../db/row.ts'

/**
 * Where repositories lie, drawn out:
 *
 *     <data dir>/repositories/<storage>/
 *       0a7/          the id modulo 4096 in hex, so that no folder grows large
 *         167.git
 *         167.wiki.git
 *     <data dir>/lost+found/
 *       default-167.git-<uuid>    was at the place of a project and is not its own
 *
 * Made from the id, never from a name: renames and transfers move nothing, and no input reaches a path.
 */
export function repositoryDir(
  root: string,
  storage: string,
  projectId: number,
  kind: 'project' | 'wiki' = 'project',
): string {
  if (!Number.isSafeInteger(projectId) || projectId <= 0) throw new Error(`not a project id: ${projectId}`)
  if (!/^[a-z0-9_-]{1,50}$/.test(storage)) throw new Error(`not a storage: ${storage}`)
  const shard = (projectId % 4096).toString(16).padStart(3, '0')
  return join(root, storage, shard, kind === 'wiki' ? `${projectId}.wiki.git` : `${projectId}.git`)
}

/** What of a project says where its repository is. */
export const placedRow = {
  id: integer,
  repository_storage: text,
}
export type Placed = RowOf<typeof placedRow>

/** What of a project says which repository is its own. Load it with the facts that decide about the request. */
export const locatedRow = { ...placedRow, repository_key: text }
export type Located = RowOf<typeof locatedRow>

export const projectRepositoryDir = (ctx: Pick<Ctx, 'repositoriesDir'>, project: Placed): string =>
  repositoryDir(ctx.repositoriesDir, project.repository_storage, project.id)

/** The folder for what is at the place of a project and is not its own. */
export const lostAndFound = (repositoriesDir: string): string => join(dirname(repositoriesDir), 'lost+found')

/** A free name in it. */
export const lostName = (repositoriesDir: string, { repository_storage }: Placed, gitDir: string): string =>
  join(lostAndFound(repositoriesDir), `${repository_storage}-${basename(gitDir)}-${randomUUID()}`)
