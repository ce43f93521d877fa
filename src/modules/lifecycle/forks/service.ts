import { featureLevelName, type Visibility, visibilities, visibilityName } from '../../../access/levels.ts'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'
import { enqueue } from '../../../jobs/job.ts'
import { conflict, Failure, forbidden, invalidFields, notFound } from '../../../kernel/failure.ts'
import { taken } from '../../../kernel/violations.ts'
import {
  findNamespace,
  mayCreateProjects,
  type NamespaceWithLevel,
  personalNamespaceOf,
} from '../../namespaces/index.ts'
import {
  becomeFork,
  createProject,
  type FeatureColumn,
  forkVisibilityViolations,
  linkFork,
  loadProject,
  type ProjectRecordRow,
  type ProjectSubject,
  unlinkFork,
} from '../../projects/index.ts'
import { scheduleImport } from '../imports/queries.ts'
import { copySource } from './jobs.ts'
import { descendsFrom, findForkOrigin, lockForkRelations } from './queries.ts'

export type ForkInput = {
  /** Id or full path of the namespace; default: the caller's personal namespace. */
  namespace?: number | string
  path?: string
  name?: string
  description?: string
  visibility?: Visibility
}

/** Settings that a fork inherits: those about the content of the repository. */
const inherited = ['ci_config_path', 'ci_default_git_depth', 'build_timeout', 'lfs_enabled', 'shared_runners_enabled']

/**
 * Forks a project. Creates the record at once; a job copies the repository. Throws `conflict` with fields if the name
 * or path is taken in the target namespace.
 */
export async function forkProject(ctx: Ctx, source: ProjectSubject, input: ForkInput): Promise<ProjectRecordRow> {
  const target = await targetNamespace(ctx, input.namespace)
  const violations = input.visibility && forkVisibilityViolations(input.visibility, source.visibility)
  if (violations?.length) throw invalidFields({ visibility_level: violations })
  const origin = await findForkOrigin(ctx.db, source.id)
  const attributes = {
    ...Object.fromEntries(inherited.map((name) => [name, origin.settings[name]])),
    ...featuresOf(source),
    name: input.name ?? source.name,
    path: input.path ?? source.path,
    description: input.description ?? origin.description,
    visibility: input.visibility ?? widestVisibility(ctx, source, target),
    namespace_id: target.id,
  }
  return createProject(ctx, attributes, ctx.actor!.id, async (tx, projectId) => {
    if (!(await becomeFork(tx, projectId, source.id))) throw notFound('Project')
    const storage = await scheduleImport(tx, projectId, { actorId: ctx.actor!.id })
    await enqueue(tx, copySource, { projectId, storage, sourceId: source.id })
    await emit(tx, {
      kind: 'project_forked',
      projectId,
      actorId: ctx.actor!.id,
      payload: { source_id: source.id },
    })
  }).catch(asConflict)
}

async function targetNamespace(ctx: Ctx, name: number | string | undefined): Promise<NamespaceWithLevel> {
  const actor = ctx.actor!
  const found =
    name === undefined ? await personalNamespaceOf(ctx.db, actor, actor.id) : await findNamespace(ctx.db, actor, name)
  if (!found || !mayCreateProjects(actor, found)) throw notFound('Target Namespace')
  return found
}

/** The lower visibility of source and target. Skips levels that are restricted for the caller. */
function widestVisibility(ctx: Ctx, source: ProjectSubject, target: NamespaceWithLevel): Visibility {
  const limit = target.kind === 'group' ? Math.min(source.visibility, target.visibility) : source.visibility
  const restricted = ctx.actor!.admin ? [] : ctx.settings.restricted_visibility_levels
  const open = Object.values(visibilities)
    .filter((level) => level <= limit && !restricted.includes(visibilityName(level)))
    .sort((a, b) => b - a)
  return visibilityName(open[0] ?? visibilities.private)
}

/** Features whose levels a fork inherits. The container registry, forks and pages begin with the levels of new projects. */
const inheritedFeatures = [
  'issues_access_level',
  'repository_access_level',
  'merge_requests_access_level',
  'builds_access_level',
  'wiki_access_level',
  'snippets_access_level',
] as const satisfies readonly FeatureColumn[]

const featuresOf = (source: ProjectSubject) =>
  Object.fromEntries(inheritedFeatures.map((name) => [name, featureLevelName(source[name])]))

/** Turns a taken name or path from `invalid` into `conflict`; only forks answer so. */
function asConflict(error: unknown): never {
  if (error instanceof Failure && error.kind === 'invalid' && error.fields) {
    const violations = Object.values(error.fields).flat()
    if (violations.every((violation) => violation === taken))
      throw new Failure('conflict', error.message, { fields: error.fields })
  }
  throw error
}

/**
 * Makes a project a fork of another, which the caller must be allowed to fork. It may be more visible than its source until its visibility
 * changes. Source: supplement to the API documents, section 5.7.
 */
export async function relateFork(ctx: Ctx, project: ProjectSubject, sourceName: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    await lockForkRelations(tx)
    await tx.requirePermission?.()
    const source = await loadProject(sourceName, { ...ctx, db: tx })
    if (!source || !allows(projectPolicy.read_project, ctx.actor, source.facts)) throw notFound('Project')
    if (!allows(projectPolicy.fork_project, ctx.actor, source.facts)) throw forbidden()
    if (await descendsFrom(tx, source.id, project.id))
      throw invalidFields({ forked_from_project_id: ['cannot be the project itself or one of its forks'] })
    if (!(await linkFork(tx, project.id, source.id))) throw conflict('Project already forked')
    await emit(tx, {
      kind: 'fork_linked',
      projectId: project.id,
      actorId: ctx.actor!.id,
      payload: { source_id: source.id },
    })
  })
}

/** Ends the fork relation. False if there is none. */
export const endForkRelation = (ctx: Ctx, project: ProjectSubject): Promise<boolean> =>
  ctx.transaction(async (tx) => {
    const sourceId = await unlinkFork(tx, project.id)
    await tx.requirePermission?.()
    if (sourceId === undefined) return false
    await emit(tx, {
      kind: 'fork_unlinked',
      projectId: project.id,
      actorId: ctx.actor!.id,
      payload: { source_id: sourceId },
    })
    return true
  })
