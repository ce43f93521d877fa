import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { resolve } from '../../../git/refs/resolve.ts'
import { invalid, invalidFields, rowNotFound } from '../../../kernel/failure.ts'
import { violationsOf } from '../../../kernel/violations.ts'
import { lockToChange, openRepository, type ProjectSubject } from '../../projects/index.ts'
import type { DeploymentStatus } from '../environments/deployment-queries.ts'
import { findEnvironment } from '../environments/queries.ts'
import { ensureEnvironment, makeAvailable } from '../environments/service.ts'
import { deleteDeployment, findDeployment, insertDeployment, isCurrent, type PlacedRow, setStatus } from './queries.ts'

export async function getDeployment(ctx: Ctx, project: ProjectSubject, id: number): Promise<PlacedRow> {
  const found = await findDeployment(ctx.db, project.id, id)
  if (!found) throw rowNotFound()
  return found
}

export type DeploymentInput = {
  readonly environment: string
  readonly sha: string
  readonly ref: string
  readonly tag: boolean
  readonly status: DeploymentStatus
}

/** Records a deployment, and its environment if there is none of the name. Throws `invalid` without the commit or the ref. */
export async function createDeployment(ctx: Ctx, project: ProjectSubject, input: DeploymentInput): Promise<PlacedRow> {
  const repo = openRepository(ctx, project)
  const sha = await resolve(repo, input.sha)
  const ref = await resolve(repo, input.ref, { prefer: input.tag ? 'tag' : 'branch' })
  const violations = violationsOf({
    sha: sha ? [] : ['The commit does not exist'],
    ref: ref ? [] : ['The branch or tag does not exist'],
  })
  if (violations) throw invalidFields(violations)
  return ctx.transaction(async (tx) => {
    await lockToChange(tx, project.id)
    const environment = await ensureEnvironment(tx, ctx, project, input.environment)
    const id = await insertDeployment(tx, {
      projectId: project.id,
      environmentId: environment.id,
      sha: sha!,
      ref: input.ref,
      tag: input.tag,
      status: input.status,
      userId: ctx.actor!.id,
    })
    if (input.status === 'success') await makeAvailable(tx, ctx, project, environment)
    await emit(tx, {
      kind: 'deployment_created',
      projectId: project.id,
      actorId: ctx.actor!.id,
      payload: { deployment_id: id, environment_id: environment.id, status: input.status },
    })
    return (await findDeployment(tx, project.id, id))!
  })
}

/** Locks a deployment, after its project, in the order in which reports lock them. */
async function lockDeployment(tx: Tx, project: ProjectSubject, id: number): Promise<PlacedRow> {
  await lockToChange(tx, project.id)
  const found = await findDeployment(tx, project.id, id, { lock: true })
  if (!found) throw rowNotFound()
  return found
}

/** A status that it has already changes nothing. */
export const setDeploymentStatus = (
  ctx: Ctx,
  project: ProjectSubject,
  id: number,
  status: DeploymentStatus,
): Promise<PlacedRow> =>
  ctx.transaction(async (tx) => {
    const found = await lockDeployment(tx, project, id)
    if (found.status === status) return found
    await setStatus(tx, id, status)
    if (status === 'success') {
      const environment = (await findEnvironment(tx, project.id, found.environment_id, { lock: true }))!
      await makeAvailable(tx, ctx, project, environment)
    }
    await emit(tx, {
      kind: 'deployment_status_changed',
      projectId: project.id,
      actorId: ctx.actor!.id,
      payload: {
        deployment_id: id,
        environment_id: found.environment_id,
        status,
        previous_status: found.status,
      },
    })
    return (await findDeployment(tx, project.id, id))!
  })

/** Deletes a deployment that neither runs nor is the current one of its environment. */
export const removeDeployment = (ctx: Ctx, project: ProjectSubject, id: number): Promise<void> =>
  ctx.transaction(async (tx) => {
    const found = await lockDeployment(tx, project, id)
    if (found.status === 'running') throw invalid('Cannot destroy running deployment')
    if (await isCurrent(tx, found)) throw invalid('Deployment currently deployed to environment')
    await deleteDeployment(tx, id)
    await emit(tx, {
      kind: 'deployment_deleted',
      projectId: project.id,
      actorId: ctx.actor!.id,
      payload: { deployment_id: id, environment_id: found.environment_id },
    })
  })
