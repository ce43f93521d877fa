import { join } from 'node:path'

/**
 * Where repositories lie, drawn out:
 *
 *     <data dir>/repositories/<storage>/
 *       0a7/          the id modulo 4096 in hex, so that no folder grows large
 *         167.git
 *         167.wiki.git
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
