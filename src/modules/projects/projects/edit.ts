import { type Visibility, visibilities, visibilityName } from '../../../access/levels.ts'
import { allowsNow } from '../../../api/allows-now.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { setDefaultBranch } from '../../../git/refs/head.ts'
import { readRef } from '../../../git/refs/refs.ts'
import { conflict, type Failure, forbidden, invalidFields, notFound } from '../../../kernel/failure.ts'
import { taken as isTaken, violationsOf } from '../../../kernel/violations.ts'
import {
  acceptAvatar,
  claimRoute,
  fullPathViolations,
  lockNamespace,
  type NamespaceRow,
  projectNameViolations,
  projectPathViolations,
  retireProjectRoute,
  saveAvatar,
} from '../../namespaces/index.ts'
import { openForWriting, openRepository } from '../repositories/open.ts'
import { changedOf } from './changed.ts'
import {
  lockForkSource,
  lockProject,
  lockProjectKey,
  type ProjectChanges,
  takenNames,
  updateProject,
} from './edit-queries.ts'
import { featuresAmong, featureViolations } from './features.ts'
import { emitLowered } from './lowered.ts'
import { visibilityViolations } from './place.ts'
import type { ProjectRow } from './queries.ts'
import type { ProjectRecordRow } from './record-queries.ts'
import { type RootFiles, rootFilesAt } from './root-files.ts'
import { asTaken, descriptionViolations, forkVisibilityViolations, getRecord, type ProjectInput } from './service.ts'
import { settingsAmong, settingViolations } from './settings.ts'
import { type ProjectSubject, project } from './subject.ts'
import { topicViolations, wishedTopics } from './topics.ts'

type EditInput = ProjectInput & { default_branch?: string; repository_storage?: string }

/** What an edit locks: the project as it is now, its namespace, and the visibility of the source of a fork, if that may limit the edit. */
type Locked = {
  readonly held: ProjectRow
  readonly namespace: NamespaceRow
  readonly sourceVisibility: number | undefined
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
  input: EditInput,
  also?: (tx: Tx) => Promise<readonly string[]>,
): Promise<ProjectRecordRow> {
  const actorId = ctx.actor!.id
  const avatar = await acceptAvatar(ctx, input.avatar)
  await ctx
    .transaction(async (tx) => {
      const locked = await lockToEdit(tx, project, input)
      const { held, namespace } = locked
      await tx.requirePermission?.()
      await requireAbilities(ctx, tx, held, input)
      const fullPath = input.path === undefined ? held.full_path : `${namespace.full_path}/${input.path}`
      await requireValid(ctx, tx, project, locked, input, fullPath)
      if (fullPath !== held.full_path) {
        await retireProjectRoute(tx, held.id)
        if (!(await claimRoute(tx, fullPath, { projectId: held.id }))) throw invalidFields({ path: [isTaken] })
      }
      const changes = await changesOf(ctx, project, held, input, fullPath)
      const { isChanged, among } = await changedOf(tx, held, changes)
      const lowered = isChanged ? await updateProject(tx, held.id, changes) : []
      const hasNewAvatar = avatar !== undefined && (await saveAvatar(tx, 'project', held.id, avatar))
      const changed = [...among(input), ...(hasNewAvatar ? ['avatar'] : []), ...((await also?.(tx)) ?? [])]
      // Last, so that a refusal above leaves HEAD unchanged. If the commit fails, the next edit or push sets HEAD
      // again.
      if (input.default_branch !== undefined) {
        await setDefaultBranch(await openForWriting(ctx, project), input.default_branch)
      }
      await emitEdited(tx, held, { actorId, changed, fullPath, visibility: input.visibility })
      const forks = lowered.filter(({ id }) => id !== held.id)
      if (input.visibility) await emitLowered(tx, forks, visibilities[input.visibility], actorId)
    })
    .catch(asTaken)
  return getRecord(ctx, project.id)
}

/** Locks a project and what limits its edit, in the order of other operations, to avoid deadlocks. Throws if it is deleted, or was moved. */
async function lockToEdit(tx: Tx, project: ProjectSubject, input: EditInput): Promise<Locked> {
  // A rename of the group also locks the namespace first.
  const namespace = await lockNamespace(tx, project.namespace_id)
  // Lowering a visibility also locks the source before its fork.
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
  return { held, namespace, sourceVisibility }
}

/** Throws `invalid` unless the project may have these attributes, and this path in its namespace. */
async function requireValid(
  ctx: Ctx,
  tx: Tx,
  project: ProjectSubject,
  { held, namespace, sourceVisibility }: Locked,
  input: EditInput,
  fullPath: string,
): Promise<void> {
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
    ...featureViolations({ ...held, ...featuresAmong(input) }),
  })
  if (violations) throw invalidFields(violations)
}

/** The columns and settings that an edit writes, changed or not. Throws `invalid` if the new default branch does not exist. */
async function changesOf(
  ctx: Ctx,
  project: ProjectSubject,
  held: ProjectRow,
  input: EditInput,
  fullPath: string,
): Promise<ProjectChanges> {
  const topics = wishedTopics(input)
  const rootFiles =
    input.default_branch === undefined ? undefined : await rootFilesOf(ctx, project, input.default_branch)
  return {
    ...featuresAmong(input),
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
}

/** Emits the rename of a project, and what else has changed; nothing if nothing has. */
async function emitEdited(
  tx: Tx,
  held: ProjectRow,
  edited: {
    readonly actorId: number
    readonly changed: readonly string[]
    readonly fullPath: string
    readonly visibility: Visibility | undefined
  },
): Promise<void> {
  const { actorId, changed, fullPath, visibility } = edited
  const about = { projectId: held.id, actorId }
  const paths = { old_full_path: held.full_path, full_path: fullPath }
  const isMoved = fullPath !== held.full_path
  if (isMoved) await emit(tx, { kind: 'project_renamed', ...about, payload: {}, facts: paths })
  if (changed.length > 0)
    await emit(tx, {
      kind: 'project_updated',
      ...about,
      payload: {
        changed,
        ...(changed.includes('visibility') && {
          from_visibility: visibilityName(held.visibility),
          visibility: visibility!,
        }),
      },
      facts: isMoved ? paths : {},
    })
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

/** Errors of an edit by an administrator that names a storage; for others the parameter has no effect, as in a new project. */
const storageViolations = (ctx: Ctx, requested: string | undefined, current: string): string[] =>
  requested && ctx.actor?.admin && requested !== current ? ['cannot be changed: a repository stays where it is'] : []

/** Root files of a branch that becomes the default. Throws `invalid` if the branch does not exist. */
async function rootFilesOf(ctx: Ctx, project: ProjectSubject, branch: string): Promise<RootFiles> {
  const repo = openRepository(ctx, project)
  const ref = branchRef(branch)
  const tip = ref && (await readRef(repo, ref))
  if (!tip) throw invalidFields({ base: [`Could not change HEAD: branch '${branch}' does not exist`] })
  return rootFilesAt(repo, tip)
}
