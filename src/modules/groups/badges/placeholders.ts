import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { readRef } from '../../../git/refs/refs.ts'
import { loadProject, openRepository, type ProjectSubject } from '../../projects/index.ts'

const names = ['project_path', 'project_title', 'project_name', 'project_id', 'default_branch', 'commit_sha'] as const
type Placeholder = (typeof names)[number]

const pattern = new RegExp(`%\\{(${names.join('|')})\\}`, 'g')

/** What placeholders stand for; those that are missing stay as they are. */
export type Values = Readonly<Partial<Record<Placeholder, string>>>

/** `%{project_path}` and its like replaced, as parts of an address. */
export const fill = (template: string, values: Values): string =>
  template.replace(pattern, (placeholder, name: Placeholder) => {
    const value = values[name]
    return value === undefined ? placeholder : value.split('/').map(encodeURIComponent).join('/')
  })

/**
 * What the placeholders in these templates stand for in a project, as far as the caller may know: what is in the repository
 * only for those who may read it. One look into the repository, and only if some template asks for the commit.
 */
export async function valuesOf(ctx: Ctx, project: ProjectSubject, templates: readonly string[]): Promise<Values> {
  const branch = allows(projectPolicy.read_code, ctx.actor, project.facts) ? project.default_branch : null
  const ref = branch === null ? undefined : branchRef(branch)
  const wanted = ref !== undefined && templates.some((template) => template.includes('%{commit_sha}'))
  const commit = wanted ? await readRef(openRepository(ctx, project), ref) : undefined
  return {
    project_path: project.full_path,
    project_title: project.name,
    project_name: project.path,
    project_id: String(project.id),
    ...(branch !== null && { default_branch: branch }),
    ...(commit !== undefined && { commit_sha: commit }),
  }
}

/** The same for whoever looks at a badge by the id of a project; nothing when that is gone. */
export async function valuesOfProject(ctx: Ctx, id: number | undefined, templates: readonly string[]): Promise<Values> {
  const project = id === undefined ? undefined : await loadProject(String(id), ctx)
  return project ? valuesOf(ctx, project, templates) : {}
}
