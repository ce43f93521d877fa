import { atMost, type Visibility, visibilities } from '../../../access/levels.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { UploadedFile } from '../../../api/params/uploaded-file.ts'
import type { Tx } from '../../../db/db.ts'
import { violatedUnique } from '../../../db/violations.ts'
import { emit } from '../../../events/log.ts'
import { enqueue } from '../../../jobs/job.ts'
import { forbidden, invalidFields, notFound, rowNotFound } from '../../../kernel/failure.ts'
import { planOffers } from '../../../kernel/plan.ts'
import { taken as isTaken, lengthViolations } from '../../../kernel/violations.ts'
import {
  acceptAvatar,
  claimRoute,
  findNamespace,
  newRunnersToken,
  pathFromName,
  personalNamespaceOf,
  saveAvatar,
} from '../../namespaces/index.ts'
import { setAside } from '../repositories/set-aside.ts'
import { unknownStorages } from '../repositories/storages.ts'
import { autoDevopsOf, insertProject, lockForkCount } from './edit-queries.ts'
import { featuresAmong, featureViolations, newFeatures } from './features.ts'
import { removeProject } from './jobs.ts'
import { lockToChange } from './lock-to-change.ts'
import { lockPlace } from './place.ts'
import { namespaceKindOf } from './queries.ts'
import { findProjectRecord, type ProjectRecordRow } from './record-queries.ts'
import { markDeleting, markForDeletion } from './removal-queries.ts'
import { settingsAmong, settingViolations } from './settings.ts'
import type { ProjectSubject } from './subject.ts'
import { topicViolations, wishedTopics } from './topics.ts'

const maxDescriptionLength = 2000

/** Errors of a description. */
export const descriptionViolations = (description: string | null | undefined): string[] =>
  lengthViolations(description ?? '', maxDescriptionLength)

/** Settings that new projects take from the installation, or from the groups above. */
const newSettings = async ({ settings }: Ctx, tx: Tx, namespace: { readonly id: number }) => ({
  ...(settings.default_ci_config_path && { ci_config_path: settings.default_ci_config_path }),
  ...(!settings.shared_runners_enabled && { shared_runners_enabled: false }),
  auto_devops_enabled: (await autoDevopsOf(tx, namespace.id)) ?? settings.auto_devops_enabled,
})

const oneOf = (names: readonly string[]): string => names[Math.floor(Math.random() * names.length)] ?? 'default'

/** The storage of a new project: the one that an administrator requests, else one of the settings. */
async function storageFor(ctx: Ctx, requested: string | undefined): Promise<string> {
  // Some clients send parameters that the user omitted as empty strings.
  if (!requested || !ctx.actor?.admin) return oneOf(ctx.settings.repository_storages)
  if ((await unknownStorages(ctx, [requested])).length > 0)
    throw invalidFields({ repository_storage: ['is not included in the list'] })
  return requested
}

/** Errors of a fork that would be more visible than its source; none without a source. */
export const forkVisibilityViolations = (visibility: Visibility, sourceVisibility: number | undefined): string[] =>
  sourceVisibility !== undefined && visibilities[visibility] > sourceVisibility
    ? [`${visibility} is not allowed since the fork source project has lower visibility.`]
    : []

export type ProjectInput = Readonly<Record<string, unknown>> & {
  name?: string
  path?: string
  description?: string | null
  visibility?: Visibility
  tag_list?: string[]
  topics?: string[]
  avatar?: UploadedFile | null
}

/**
 * Creates a project in a namespace where the caller may create projects; default: the personal namespace of `ownerId`.
 * Runs `also` in the same transaction, after the insert.
 */
export async function createProject(
  ctx: Ctx,
  input: ProjectInput & { namespace_id?: number; repository_storage?: string },
  ownerId: number,
  also?: (tx: Tx, projectId: number) => Promise<void>,
): Promise<ProjectRecordRow> {
  const actor = ctx.actor!
  const namespace =
    input.namespace_id === undefined
      ? await personalNamespaceOf(ctx.db, actor, ownerId)
      : await findNamespace(ctx.db, actor, input.namespace_id)
  if (!namespace) throw invalidFields({ namespace: ['is not valid'] })
  const name = input.name ?? input.path!
  const path = input.path ?? pathFromName(name)
  const visibility = input.visibility ?? atMost(ctx.settings.default_project_visibility, namespace.visibility)
  const features = { ...newFeatures(visibility === 'private'), ...featuresAmong(input) }

  const storage = await storageFor(ctx, input.repository_storage)
  const avatar = await acceptAvatar(ctx, input.avatar)
  const id = await ctx
    .transaction(async (tx) => {
      const held = await lockPlace(
        ctx,
        tx,
        namespace.id,
        { name, path, visibility },
        {
          description: descriptionViolations(input.description),
          ...topicViolations(input),
          ...settingViolations(input),
          ...featureViolations(features),
        },
      )
      const fullPath = `${held.full_path}/${path}`
      const made = await insertProject(tx, {
        ...features,
        namespaceId: held.id,
        creatorId: ownerId,
        name,
        path,
        fullPath,
        description: input.description ?? null,
        visibility: visibilities[visibility],
        topics: wishedTopics(input) ?? [],
        settings: { ...(await newSettings(ctx, tx, held)), ...settingsAmong(input) },
        storage,
        runnersToken: newRunnersToken(),
      })
      const projectId = made.id
      // After a restore, the database may reuse ids that still have repositories.
      await setAside(ctx, made, tx).catch((err) => {
        if (!('syscall' in err)) throw err
        ctx.log.error({ err, project_id: projectId }, 'failed to move a foreign repository to lost+found')
        throw invalidFields({ base: ['There is already a repository with that name on disk'] })
      })
      // A concurrent request may have taken the name or path since the checks.
      if (!(await claimRoute(tx, fullPath, { projectId }))) throw invalidFields({ path: [isTaken] })
      if (avatar) await saveAvatar(tx, 'project', projectId, avatar)
      await emit(tx, {
        kind: 'project_created',
        projectId,
        actorId: actor.id,
        payload: {},
        facts: { name, full_path: fullPath, visibility },
      })
      await also?.(tx, projectId)
      return projectId
    })
    .catch(asTaken)
  return getRecord(ctx, id)
}

/** Rethrows an error of the database, as a refusal if it says that the name is taken. */
export function asTaken(error: unknown): never {
  if (violatedUnique(error) === 'projects_name') throw invalidFields({ name: [isTaken] })
  throw error
}

export async function getRecord(ctx: Ctx, id: number): Promise<ProjectRecordRow> {
  const row = await findProjectRecord(ctx.db, ctx.actor, id, {})
  if (!row) throw rowNotFound()
  return row
}

/**
 * Deletes a project, or marks it for deletion: for group projects, on plans with a deletion period. A deleted project
 * is hidden from this commit on; a job deletes its data.
 */
export async function deleteProject(ctx: Ctx, project: ProjectSubject): Promise<void> {
  requireUnprotected(ctx)
  const hasPeriod = planOffers(ctx.plan, 'premium') && ctx.settings.deletion_adjourned_period > 0
  await ctx.transaction(async (tx) => {
    await lockForkCount(tx, project.id)
    await lockToChange(tx, project.id)
    // A transfer may have moved it meanwhile.
    const waits = hasPeriod && (await namespaceKindOf(tx, project.id)) === 'group'
    const about = { projectId: project.id, actorId: ctx.actor!.id, facts: { full_path: project.full_path } }
    if (waits) {
      const newly = await markForDeletion(tx, project.id)
      if (newly === undefined) throw notFound('Project')
      // Repeating the request succeeds without an event.
      if (newly) await emit(tx, { kind: 'project_marked_for_deletion', ...about, payload: {} })
      return
    }
    const deleting = await markDeleting(tx, project.id)
    if (!deleting) throw notFound('Project')
    await enqueue(tx, removeProject, { projectId: project.id })
    const { namespace_id, visibility } = deleting
    await emit(tx, { kind: 'project_deleted', ...about, payload: { namespace_id, visibility } })
  })
}

/** Throws `forbidden` if only administrators may delete projects and the caller is none. */
export function requireUnprotected({ plan, settings, actor }: Ctx): void {
  if (planOffers(plan, 'premium') && settings.default_project_deletion_protection && !actor?.admin) throw forbidden()
}
