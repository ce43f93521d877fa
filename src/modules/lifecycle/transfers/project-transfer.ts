import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { violatedUnique } from '../../../db/violations.ts'
import { emit } from '../../../events/log.ts'
import { Failure, invalidFields, notFound } from '../../../kernel/failure.ts'
import { addOwnerOfNamespace } from '../../groups/index.ts'
import {
  claimRoute,
  findNamespace,
  fullPathViolations,
  lockAccess,
  lockNamespace,
  mayCreateProjects,
  type NamespaceWithLevel,
  projectPlaced,
  retireProjectRoute,
} from '../../namespaces/index.ts'
import {
  emitLowered,
  lockProjectKey,
  movedConcurrently,
  moveProject,
  type ProjectSubject,
  requireRoom,
  takenNames,
  withAudiencesLowered,
} from '../../projects/index.ts'
import { replaceLeftBehind } from './left-behind.ts'
import { namespacesAround, oneProject } from './queries.ts'

const refuse = (text: string): Failure => invalidFields({ new_namespace: [text] }, 'transfer project')

const taken = 'Project with same name or path in target namespace already exists'
const notAllowed = 'Transfer failed, please contact an admin.'

/**
 * Moves a project into a namespace where the caller may create projects. Files on disk are named by id and stay; the
 * old path becomes a redirect. Lowers the visibility to that of the target group.
 */
export async function transferProject(ctx: Ctx, project: ProjectSubject, target: NamespaceWithLevel): Promise<void> {
  const actor = ctx.actor!
  if (target.id === project.namespace_id) throw refuse('Project is already in this namespace.')
  // Waits, such as for an import into it, before the lock of access is taken, for which all other changes of access would wait, too.
  ctx.outside?.prepare()
  await ctx.transaction((tx) => lockProjectKey(tx, project.id))
  const isLimited = target.kind === 'group' && (mayCreateProjects(actor, target) || actor.admin)
  const move = async (tx: Tx) => {
    await lockAccess(tx)
    const namespace = await lockNamespace(tx, target.id)
    // Once it is locked: an edit of it may have taken the right.
    const now = namespace && (await findNamespace(tx, actor, target.id))
    if (!namespace || !now || now.importing || !(mayCreateProjects(actor, now) || actor.admin)) throw refuse(notAllowed)
    const held = await lockProjectKey(tx, project.id)
    if (!held) throw notFound('Project')
    if (held.namespace_id !== project.namespace_id) throw movedConcurrently()
    if (namespace.owner_id !== null)
      await requireRoom(tx, namespace.owner_id).catch((error: unknown) => {
        throw error instanceof Failure ? refuse(notAllowed) : error
      })
    const fullPath = `${namespace.full_path}/${held.path}`
    const [tooLong] = fullPathViolations(fullPath)
    if (tooLong !== undefined) throw refuse(`Path ${tooLong}`)
    const names = await takenNames(tx, {
      namespaceId: namespace.id,
      name: held.name,
      fullPath,
      projectId: held.id,
    })
    if (names.name.length > 0 || names.path.length > 0) throw refuse(taken)
    await retireProjectRoute(tx, held.id)
    if (!(await claimRoute(tx, fullPath, { projectId: held.id }))) throw refuse(taken)
    const visibility = namespace.kind === 'group' ? Math.min(held.visibility, namespace.visibility) : held.visibility
    const lowered = await moveProject(tx, held.id, { namespaceId: namespace.id, fullPath, visibility })
    if (namespace.owner_id !== null) await addOwnerOfNamespace(tx, held.id, actor.id)
    await projectPlaced(tx, held.id)
    const before = await namespacesAround(tx, held.namespace_id)
    await replaceLeftBehind(tx, oneProject(held.id), before, namespace.traversal_ids, {
      projectId: held.id,
      actorId: actor.id,
    })
    await emit(tx, {
      kind: 'project_transferred',
      projectId: held.id,
      actorId: actor.id,
      payload: {},
      facts: { old_full_path: held.full_path, full_path: fullPath },
    })
    await emitLowered(tx, lowered, visibility, actor.id)
  }
  const places = isLimited ? [{ projectId: project.id }] : []
  await withAudiencesLowered(ctx, places, target.visibility, () => ctx.transaction(move)).catch((error: unknown) => {
    throw violatedUnique(error) === 'projects_name' ? refuse(taken) : error
  })
}
