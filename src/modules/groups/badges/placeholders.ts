import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { readRef } from '../../../git/refs/refs.ts'
import { encodedPath } from '../../../kernel/encoded-path.ts'
import { loadProject, openRepository, type ProjectSubject } from '../../projects/index.ts'

const names = ['project_path', 'project_title', 'project_name', 'project_id', 'default_branch', 'commit_sha'] as const
type Placeholder = (typeof names)[number]

const pattern = new RegExp(`%\\{(${names.join('|')})\\}`, 'g')

/** Values of placeholders; a missing one leaves its placeholder in place. */
export type Values = Readonly<Partial<Record<Placeholder, string>>>

/** Replaces `%{project_path}` and the other placeholders by their values, encoded for a URL. */
export const fill = (template: string, values: Values): string =>
  template.replace(pattern, (placeholder, name: Placeholder) => {
    const value = values[name]
    return value === undefined ? placeholder : encodedPath(value)
  })

/**
 * Values of the placeholders in these templates for a project, as far as the caller may see them: repository data needs
 * access to the code. Reads the repository once, and only if a template uses the commit.
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

/** As `valuesOf`, by project id; empty if the project is gone. */
export async function valuesOfProject(ctx: Ctx, id: number | undefined, templates: readonly string[]): Promise<Values> {
  const project = id === undefined ? undefined : await loadProject(String(id), ctx)
  return project ? valuesOf(ctx, project, templates) : {}
}
