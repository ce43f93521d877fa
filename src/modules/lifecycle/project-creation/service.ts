import { featureLevels } from '../../../access/levels.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { ParameterError } from '../../../api/params/parameter-error.ts'
import { branchRef, isLikeCommitId } from '../../../git/format/ref-name.ts'
import { invalidFields } from '../../../kernel/failure.ts'
import { findNamespaceByPath, mayCreateProjects } from '../../namespaces/index.ts'
import {
  createProject,
  getRecord,
  loadProject,
  type ProjectInput,
  type ProjectRecordRow,
  type ProjectSubject,
  requireCreatable,
} from '../../projects/index.ts'
import { commitReadme } from '../../pushes/index.ts'
import { acceptImportUrl, importInto } from '../imports/service.ts'
import { acceptNewMirror } from '../pull-mirrors/configure.ts'
import { acceptTemplate, fillFromTemplate, type TemplateWish } from './templates.ts'

/** Parameters that name a source of content; a request may have one of them. */
export const sources = ['import_url', 'template_name', 'template_project_id'] as const

/** Initial content of a new project: none, a README, or a copy. */
type Beginning = TemplateWish & {
  initialize_with_readme: boolean
  default_branch?: string
  import_url?: string
  mirror?: boolean
  mirror_user_id?: number
}

/** Creates a project and, if requested, its first commit or the job that fills it. */
export async function createProjectWithContent(
  ctx: Ctx,
  input: ProjectInput & Beginning & { namespace_id?: number; repository_storage?: string },
  ownerId: number,
): Promise<ProjectRecordRow> {
  const { initialize_with_readme, default_branch: requested, import_url, ...attributes } = input
  // Compat: glab sends parameters that the user omitted as empty strings.
  const default_branch = requested || undefined
  if (default_branch !== undefined && !isUsableBranch(default_branch))
    throw invalidFields({ default_branch: ['is invalid'] })
  const source = sources.find((name) => input[name] !== undefined)
  if (initialize_with_readme && source)
    throw new ParameterError(`initialize_with_readme, ${source} are mutually exclusive`)
  const template = await acceptTemplate(ctx, input)
  const becomeMirror = await acceptNewMirror(ctx, input, import_url !== undefined)
  if (import_url !== undefined) {
    const destination = await acceptImportUrl(ctx, import_url)
    return createProject(ctx, attributes, ownerId, async (tx, id) => {
      await importInto(ctx, tx, id, { destination, defaultBranch: default_branch })
      await becomeMirror?.(tx, id, destination)
    })
  }
  if (template)
    return createProject(ctx, attributes, ownerId, (tx, id) =>
      fillFromTemplate(ctx, tx, id, { template, defaultBranch: default_branch }),
    )
  const project = await createProject(ctx, attributes, ownerId)
  // No one may push a first commit to a repository that is disabled.
  if (!initialize_with_readme || project.repository_access_level === featureLevels.disabled) return project
  await commitReadme(ctx, project, default_branch)
  return getRecord(ctx, project.id)
}

/** Whether pushes accept the name, too. */
const isUsableBranch = (name: string): boolean => branchRef(name) !== undefined && !isLikeCommitId(name)

/** Namespace and path of a project that a push creates. */
export type Plan = { readonly namespaceId: number; readonly path: string }

/** The attributes of a project that a push creates; the others are the defaults of new projects. */
const attributesOf = ({ path }: Plan) => ({ name: path, path, visibility: 'private' as const })

/**
 * Whether a push to this path, which has no project, may create one: the caller may create projects in its namespace. Undefined if not.
 * Throws if that project cannot be created. Git shows the reason only before it sends the push: a refusal of the push itself is for git over HTTP a
 * broken connection.
 */
export async function planFromPush(ctx: Ctx, fullPath: string): Promise<Plan | undefined> {
  const slash = fullPath.lastIndexOf('/')
  if (!ctx.actor || slash < 0) return undefined
  const namespace = await findNamespaceByPath(ctx.db, ctx.actor, fullPath.slice(0, slash))
  if (!namespace || !mayCreateProjects(ctx.actor, namespace)) return undefined
  const plan = { namespaceId: namespace.id, path: fullPath.slice(slash + 1) }
  await requireCreatable(ctx, plan.namespaceId, attributesOf(plan))
  return plan
}

/** Creates the project of a plan. */
export async function createFromPush(ctx: Ctx, plan: Plan): Promise<ProjectSubject> {
  const made = await createProject(ctx, { ...attributesOf(plan), namespace_id: plan.namespaceId }, ctx.actor!.id)
  return (await loadProject(String(made.id), ctx))!
}
