import { atMost, type Visibility, visibilities, visibilityName } from '../../../access/levels.ts'
import { allowsNow } from '../../../api/allows-now.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { UploadedFile } from '../../../api/params/uploaded-file.ts'
import type { Tx } from '../../../db/db.ts'
import { violatedUnique } from '../../../db/violations.ts'
import { emit } from '../../../events/log.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { setDefaultBranch } from '../../../git/refs/head.ts'
import { readRef } from '../../../git/refs/refs.ts'
import { enqueue } from '../../../jobs/job.ts'
import { conflict, type Failure, forbidden, invalidFields, notFound, rowNotFound } from '../../../kernel/failure.ts'
import { planOffers } from '../../../kernel/plan.ts'
import { taken as isTaken, lengthViolations, violationsOf } from '../../../kernel/violations.ts'
import {
  acceptAvatar,
  claimRoute,
  findNamespace,
  fullPathViolations,
  lockNamespace,
  newRunnersToken,
  pathFromName,
  personalNamespaceOf,
  projectNameViolations,
  projectPathViolations,
  retireProjectRoute,
  saveAvatar,
} from '../../namespaces/index.ts'
import { openForWriting, openRepository } from '../repositories/open.ts'
import { setAside } from '../repositories/set-aside.ts'
import { unknownStorages } from '../repositories/storages.ts'
import { changedOf } from './changed.ts'
import {
  autoDevopsOf,
  insertProject,
  lockForkCount,
  lockForkSource,
  lockProject,
  lockProjectKey,
  type ProjectChanges,
  takenNames,
  updateProject,
} from './edit-queries.ts'
import { featuresAmong, featureViolations, newFeatures } from './features.ts'
import { removeProject } from './jobs.ts'
import { lockToChange } from './lock-to-change.ts'
import { emitLowered } from './lowered.ts'
import { lockPlace, visibilityViolations } from './place.ts'
import { namespaceKindOf, type ProjectRow } from './queries.ts'
import { findProjectRecord, type ProjectRecordRow } from './record-queries.ts'
import { markDeleting, markForDeletion } from './removal-queries.ts'
import { type RootFiles, rootFilesAt } from './root-files.ts'
import { settingsAmong, settingViolations } from './settings.ts'
import { type ProjectSubject, project } from './subject.ts'
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

/** Errors of an edit by an administrator that names a storage; for others the parameter has no effect, as in a new project. */
const storageViolations = (ctx: Ctx, requested: string | undefined, current: string): string[] =>
  requested && ctx.actor?.admin && requested !== current ? ['cannot be changed: a repository stays where it is'] : []

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

function asTaken(error: unknown): never {
  if (violatedUnique(error) === 'projects_name') throw invalidFields({ name: [isTaken] })
  throw error
}

export async function getRecord(ctx: Ctx, id: number): Promise<ProjectRecordRow> {
  const row = await findProjectRecord(ctx.db, ctx.actor, id, {})
  if (!row) throw rowNotFound()
  return row
}

/** Permissions may differ in the new namespace. */
export const movedConcurrently = (): Failure => conflict('The project was moved meanwhile')

/**
 * Changes the given attributes. A rename leaves a redirect at the old path. Runs `also` in the same transaction, with the
 * project locked; it resolves to the names of what it changed. Values as they are leave no trace.
 */
export async function editProject(
  ctx: Ctx,
  project: ProjectSubject,
  input: ProjectInput & { default_branch?: string; repository_storage?: string },
  also?: (tx: Tx) => Promise<readonly string[]>,
): Promise<ProjectRecordRow> {
  const { actor } = ctx
  const avatar = await acceptAvatar(ctx, input.avatar)
  await ctx
    .transaction(async (tx) => {
      // Locks in the same order as a rename of the group, to avoid deadlocks.
      const namespace = await lockNamespace(tx, project.namespace_id)
      // Locks the source before its fork, in the same order as lowering a visibility, to avoid deadlocks.
      const sourceVisibility = input.visibility === undefined ? undefined : await lockForkSource(tx, project.id)
      const renames = input.name !== undefined && input.name !== project.name
      // A push that deletes the branch sees the new default branch, or is seen (`recordIntent` of `pushes`).
      const changesBranch = (now: { readonly default_branch: string | null }) =>
        input.default_branch !== undefined && input.default_branch !== now.default_branch
      // Otherwise comments, which refer to the project, and an edit that copies a visibility to what they are about would wait for each other.
      const excludesPushes = renames || changesBranch(project)
      let held = await (excludesPushes ? lockProjectKey : lockProject)(tx, project.id)
      // Another request has changed the branch meanwhile.
      if (held && !excludesPushes && changesBranch(held)) held = await lockProjectKey(tx, project.id)
      if (!held) throw notFound('Project')
      if (held.namespace_id !== namespace?.id) throw movedConcurrently()
      await tx.requirePermission?.()
      await requireAbilities(ctx, tx, held, input)
      const features = featuresAmong(input)
      const fullPath = input.path === undefined ? held.full_path : `${namespace.full_path}/${input.path}`
      const name = input.name ?? held.name
      const taken =
        name === held.name && fullPath === held.full_path
          ? { name: [], path: [] }
          : await takenNames(tx, { namespaceId: namespace.id, name, fullPath, projectId: held.id })
      const violations = violationsOf({
        name: input.name === undefined ? taken.name : [...projectNameViolations(input.name), ...taken.name],
        path:
          input.path === undefined
            ? []
            : [...projectPathViolations(input.path), ...fullPathViolations(fullPath), ...taken.path],
        description: descriptionViolations(input.description),
        visibility_level:
          input.visibility === undefined || visibilities[input.visibility] === held.visibility
            ? []
            : [
                ...visibilityViolations(ctx, input.visibility, namespace),
                ...forkVisibilityViolations(input.visibility, sourceVisibility),
              ],
        repository_storage: storageViolations(ctx, input.repository_storage, project.repository_storage),
        ...topicViolations(input),
        ...settingViolations(input),
        ...featureViolations({ ...held, ...features }),
      })
      if (violations) throw invalidFields(violations)
      if (fullPath !== held.full_path) {
        await retireProjectRoute(tx, held.id)
        if (!(await claimRoute(tx, fullPath, { projectId: held.id }))) throw invalidFields({ path: [isTaken] })
      }
      const topics = wishedTopics(input)
      const rootFiles =
        input.default_branch === undefined ? undefined : await rootFilesOf(ctx, project, input.default_branch)
      const changes: ProjectChanges = {
        ...features,
        ...(input.name !== undefined && { name: input.name }),
        ...(fullPath !== held.full_path && { path: input.path!, full_path: fullPath }),
        ...(input.description !== undefined && { description: input.description }),
        ...(input.visibility !== undefined && { visibility: visibilities[input.visibility] }),
        ...(rootFiles && {
          default_branch: input.default_branch!,
          readme_path: rootFiles.readmePath,
          license_path: rootFiles.licensePath,
          license_key: rootFiles.licenseKey,
        }),
        ...(topics && { topics }),
        settings: settingsAmong(input),
      }
      const { isChanged, among } = await changedOf(tx, held, changes)
      const lowered = isChanged ? await updateProject(tx, held.id, changes) : []
      const hasNewAvatar = avatar !== undefined && (await saveAvatar(tx, 'project', held.id, avatar))
      const changed = [...among(input), ...(hasNewAvatar ? ['avatar'] : []), ...((await also?.(tx)) ?? [])]
      // Last, so that a refusal above leaves HEAD unchanged. If the commit fails, the next edit or push sets HEAD
      // again.
      if (input.default_branch !== undefined) {
        await setDefaultBranch(await openForWriting(ctx, project), input.default_branch)
      }
      if (fullPath !== held.full_path)
        await emit(tx, {
          kind: 'project_renamed',
          projectId: held.id,
          actorId: actor!.id,
          payload: {},
          facts: { old_full_path: held.full_path, full_path: fullPath },
        })
      if (changed.length > 0)
        await emit(tx, {
          kind: 'project_updated',
          projectId: held.id,
          actorId: actor!.id,
          payload: {
            changed,
            ...(changed.includes('visibility') && {
              from_visibility: visibilityName(held.visibility),
              visibility: input.visibility!,
            }),
          },
          facts: { ...(fullPath !== held.full_path && { old_full_path: held.full_path, full_path: fullPath }) },
        })
      const forks = lowered.filter(({ id }) => id !== held.id)
      if (input.visibility) await emitLowered(tx, forks, visibilities[input.visibility], actor!.id)
    })
    .catch(asTaken)
  return getRecord(ctx, project.id)
}

/** Throws unless the caller may change these attributes of the project, which is locked. */
async function requireAbilities(
  ctx: Ctx,
  tx: Tx,
  held: Pick<ProjectRow, 'id' | 'name' | 'visibility'>,
  { name, visibility }: Pick<ProjectInput, 'name' | 'visibility'>,
): Promise<void> {
  const may = (ability: 'rename_project' | 'change_visibility') => allowsNow(project, ability, held.id, ctx, tx)
  if (name !== undefined && name !== held.name && !(await may('rename_project'))) throw forbidden()
  if (visibility !== undefined && visibilities[visibility] !== held.visibility && !(await may('change_visibility')))
    throw forbidden()
}

/** Root files of a branch that becomes the default. Throws `invalid` if the branch does not exist. */
async function rootFilesOf(ctx: Ctx, project: ProjectSubject, branch: string): Promise<RootFiles> {
  const repo = openRepository(ctx, project)
  const ref = branchRef(branch)
  const tip = ref && (await readRef(repo, ref))
  if (!tip) throw invalidFields({ base: [`Could not change HEAD: branch '${branch}' does not exist`] })
  return rootFilesAt(repo, tip)
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
