import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { changedNames } from '../../../kernel/changed-names.ts'
import { forbidden, invalidFields, rowNotFound } from '../../../kernel/failure.ts'
import { blank, lengthViolations, taken, urlViolations, violationsOf } from '../../../kernel/violations.ts'
import { lockToChange, type ProjectSubject } from '../../projects/index.ts'
import { findLastDeployment } from './deployment-queries.ts'
import { slugOf, type Tier, tierOf } from './names.ts'
import {
  deleteEnvironment,
  type EnvironmentRow,
  type EnvironmentValues,
  findEnvironment,
  findEnvironmentByName,
  insertEnvironment,
  lockStale,
  setState,
  takenBy,
  updateEnvironment,
} from './queries.ts'

const maxLength = 255

/** Throws `invalid` for values that break a rule. */
function requireValid({ name, external_url, description }: Omit<EnvironmentValues, 'slug' | 'tier'>): void {
  const violations = violationsOf({
    name: name.trim() === '' ? [blank] : [...lengthViolations(name, maxLength), ...nameViolations(name)],
    external_url:
      external_url === null ? [] : [...lengthViolations(external_url, maxLength), ...urlViolations(external_url)],
    description: lengthViolations(description ?? '', 10_000),
  })
  if (violations) throw invalidFields(violations)
}

const nameViolations = (name: string): string[] =>
  /^(?!\/)[\w/${}. -]*(?<!\/)$/.test(name)
    ? []
    : [
        "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'",
      ]

export async function getEnvironment(ctx: Ctx, project: ProjectSubject, id: number) {
  const environment = await findEnvironment(ctx.db, project.id, id)
  if (!environment) throw rowNotFound()
  return { environment, lastDeployment: await findLastDeployment(ctx.db, id) }
}

export type EnvironmentInput = {
  readonly name?: string
  readonly external_url?: string | null
  readonly description?: string | null
  readonly tier?: Tier
}

export const createEnvironment = (
  ctx: Ctx,
  project: ProjectSubject,
  input: EnvironmentInput & { readonly name: string },
): Promise<EnvironmentRow> =>
  ctx.transaction(async (tx) => {
    await lockToChange(tx, project.id)
    return insertNew(tx, ctx, project, input)
  })

/** The environment of that name, which is created if it is missing. The caller has locked the project. */
export const ensureEnvironment = async (
  tx: Tx,
  ctx: Ctx,
  project: ProjectSubject,
  name: string,
): Promise<EnvironmentRow> =>
  (await findEnvironmentByName(tx, project.id, name)) ?? (await insertNew(tx, ctx, project, { name }))

async function insertNew(
  tx: Tx,
  ctx: Ctx,
  project: ProjectSubject,
  { name, external_url, description, tier }: EnvironmentInput & { readonly name: string },
): Promise<EnvironmentRow> {
  const values = {
    name,
    slug: slugOf(name),
    external_url: external_url || null,
    description: description || null,
    tier: tier ?? tierOf(name),
  }
  requireValid(values)
  await requireFree(tx, project, { id: 0, name, slug: values.slug })
  const environment = await insertEnvironment(tx, project.id, values)
  await emitChange(tx, ctx, 'environment_created', project, environment)
  return environment
}

async function requireFree(
  tx: Tx,
  project: ProjectSubject,
  environment: { id: number; name: string; slug: string },
): Promise<void> {
  const others = await takenBy(tx, project.id, environment)
  const violations = violationsOf({ name: others.name ? [taken] : [], slug: others.slug ? [taken] : [] })
  if (violations) throw invalidFields(violations)
}

/** Locks an environment and its project, so that names stay free; `not_found` without it. */
async function lockEnvironment(tx: Tx, project: ProjectSubject, id: number): Promise<EnvironmentRow> {
  await lockToChange(tx, project.id)
  const environment = await findEnvironment(tx, project.id, id, { lock: true })
  if (!environment) throw rowNotFound()
  return environment
}

/** Absent attributes stay; so does the slug. Values as they are leave no trace. */
export const editEnvironment = (
  ctx: Ctx,
  project: ProjectSubject,
  id: number,
  changes: EnvironmentInput,
): Promise<EnvironmentRow> =>
  ctx.transaction(async (tx) => {
    const found = await lockEnvironment(tx, project, id)
    const values = {
      name: changes.name ?? found.name,
      external_url: changes.external_url === undefined ? found.external_url : changes.external_url || null,
      description: changes.description === undefined ? found.description : changes.description || null,
      tier: changes.tier ?? found.tier,
    }
    requireValid(values)
    if (changedNames(found, values).length === 0) return found
    if (values.name !== found.name) await requireFree(tx, project, { id, name: values.name, slug: found.slug })
    const environment = await updateEnvironment(tx, id, values)
    await emitChange(tx, ctx, 'environment_updated', project, environment)
    return environment
  })

/** Stops an environment; one that is stopped stays so. */
export const stopEnvironment = (ctx: Ctx, project: ProjectSubject, id: number): Promise<EnvironmentRow> =>
  ctx.transaction(async (tx) => {
    const found = await lockEnvironment(tx, project, id)
    if (found.state === 'stopped') return found
    const environment = await setState(tx, id, 'stopped')
    await emitChange(tx, ctx, 'environment_stopped', project, environment)
    return environment
  })

/** Environments that one transaction stops. */
const stoppedAtOnce = 100

/**
 * Stops the available environments that neither changed nor had a deployment since `before`, in several transactions if they are many.
 * Returns how many.
 */
export async function stopStaleEnvironments(ctx: Ctx, project: ProjectSubject, before: Date): Promise<number> {
  const stopSome = () =>
    ctx.transaction(async (tx) => {
      await lockToChange(tx, project.id)
      const stale = await lockStale(tx, project.id, before, stoppedAtOnce)
      for (const id of stale)
        await emitChange(tx, ctx, 'environment_stopped', project, await setState(tx, id, 'stopped'))
      return stale.length
    })
  let count = 0
  let stopped: number
  do {
    stopped = await stopSome()
    count += stopped
  } while (stopped === stoppedAtOnce)
  return count
}

/** A stopped environment is available again, because something was deployed there. */
export async function makeAvailable(
  tx: Tx,
  ctx: Ctx,
  project: ProjectSubject,
  environment: EnvironmentRow,
): Promise<EnvironmentRow> {
  if (environment.state === 'available') return environment
  const available = await setState(tx, environment.id, 'available')
  await emitChange(tx, ctx, 'environment_updated', project, available)
  return available
}

/** Deletes a stopped environment with its deployments. */
export const removeEnvironment = (ctx: Ctx, project: ProjectSubject, id: number): Promise<void> =>
  ctx.transaction(async (tx) => {
    const environment = await lockEnvironment(tx, project, id)
    if (environment.state !== 'stopped') throw forbidden('Stop the environment first')
    await deleteEnvironment(tx, id)
    await emitChange(tx, ctx, 'environment_deleted', project, environment)
  })

const emitChange = (
  tx: Tx,
  ctx: Ctx,
  kind: 'environment_created' | 'environment_updated' | 'environment_stopped' | 'environment_deleted',
  project: ProjectSubject,
  environment: EnvironmentRow,
) =>
  emit(tx, {
    kind,
    projectId: project.id,
    actorId: ctx.actor!.id,
    payload: { environment_id: environment.id },
  })
