import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { enqueue } from '../../../jobs/job.ts'
import { claimRoute, retireProjectRoute } from '../../namespaces/index.ts'
import { lockProjectKey } from '../projects/edit-queries.ts'
import { removeProject } from '../projects/jobs.ts'
import { markDeleting } from '../projects/removal-queries.ts'
import { moveFollowers, saveName } from './replacement-queries.ts'

/**
 * Puts a project into the place of another one of the same namespace: path, stars, forks, deploy keys, and the name unless
 * `keepsName`. The other one is deleted. False if one of them is being deleted, or they are no longer side by side.
 */
export async function replaceProject(
  tx: Tx,
  id: number,
  replacedId: number,
  { actorId, keepsName }: { actorId: number; keepsName: boolean },
): Promise<boolean> {
  const project = await lockProjectKey(tx, id)
  const replaced = await lockProjectKey(tx, replacedId)
  if (!project || !replaced || project.namespace_id !== replaced.namespace_id) return false
  await moveFollowers(tx, replacedId, id)
  const { name, path, full_path: fullPath } = replaced
  const aside = `-replaced-${replacedId}`
  await retireProjectRoute(tx, replacedId)
  await retireProjectRoute(tx, id)
  await saveName(tx, replacedId, { name: `${name}${aside}`, path: `${path}${aside}`, fullPath: `${fullPath}${aside}` })
  if (!(await claimRoute(tx, fullPath, { projectId: id }))) return false
  await saveName(tx, id, { name: keepsName ? project.name : name, path, fullPath })
  await emit(tx, {
    kind: 'project_renamed',
    projectId: id,
    actorId,
    payload: {},
    facts: { old_full_path: project.full_path, full_path: fullPath },
  })
  const deleting = await markDeleting(tx, replacedId)
  if (!deleting) return false
  const { namespace_id, visibility } = deleting
  await enqueue(tx, removeProject, { projectId: replacedId })
  await emit(tx, {
    kind: 'project_deleted',
    projectId: replacedId,
    actorId,
    payload: { namespace_id, visibility },
    facts: { full_path: fullPath },
  })
  return true
}
