import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { pullScopes, pushScopes, reaches } from '../../../access/scopes.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { httpUrlToRepo } from '../../../api/site.ts'
import { termsViolation } from '../../instance/index.ts'
import { loadProject, type ProjectSubject } from '../../projects/index.ts'
import { collaborationBranches } from '../branch-access/collaboration.ts'
import { type Grant, isForNew, type Operation } from './credentials.ts'
import { openStorage, type Storage } from './storage.ts'

export type Access =
  | { storage: Storage }
  /** Authentication may help. Does not reveal whether the project exists. */
  | { challenge: true }
  | { refused: 403 | 404; message: string }

const notFound: Access = { refused: 404, message: 'Not found.' }
const forbidden: Access = { refused: 403, message: 'Access forbidden. Check your access level.' }

const covers = (grant: Grant, { id, full_path }: ProjectSubject, operation: Operation): boolean =>
  ('id' in grant.project ? grant.project.id === id : isForNew(grant, full_path)) &&
  (grant.operation === operation || grant.operation === 'upload')

/** As `lfsAccess`, to a project that was accessed before, whatever its path is now. */
export async function lfsAccessStill(
  ctx: Ctx,
  projectId: number,
  operation: Operation,
  grant: Grant | undefined,
): Promise<Access> {
  const project = await loadProject(String(projectId), ctx)
  return project ? lfsAccess(ctx, project.full_path, operation, grant) : notFound
}

/**
 * Whether the caller may read or add large files of the project at this path: the same policy and scopes as fetch and
 * push. Only users who may read its code learn that the project exists and whether large files are enabled.
 */
export async function lfsAccess(
  ctx: Ctx,
  path: string,
  operation: Operation,
  grant: Grant | undefined,
): Promise<Access> {
  const { actor } = ctx
  const terms = await termsViolation(ctx)
  if (terms !== undefined) return { refused: 403, message: terms }
  const project = await loadProject(path, ctx)
  const readable =
    project &&
    allows(projectPolicy.read_project, actor, project.facts) &&
    allows(projectPolicy.read_code, actor, project.facts)
  if (!actor && !(readable && operation === 'download')) return { challenge: true }
  if (!readable) return notFound
  if (grant && !covers(grant, project, operation)) return forbidden
  if (actor && !reaches(actor.scopes, operation === 'upload' ? pushScopes : pullScopes)) return forbidden
  const storage = await openStorage(ctx, project)
  if (!storage.enabled) return notFound
  if (operation === 'download') return { storage }
  const mayPush =
    allows(projectPolicy.push_code, actor, project.facts) || (await collaborationBranches(ctx, project)).size > 0
  if (!mayPush) return forbidden
  // As with git: writes to an old path are refused with the new address.
  if (project.full_path.toLowerCase() !== path.toLowerCase())
    return {
      refused: 403,
      message: `Project '${path}' was moved to '${project.full_path}'. Please update your Git remote: git remote set-url origin ${httpUrlToRepo(ctx.site, project.full_path)}`,
    }
  return { storage }
}
