import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { asAccount } from '../../accounts/index.ts'
import { loadProject } from '../../projects/index.ts'

/** The rows that decide whose access is needed to fetch code from the source. */
type Authored = { readonly author_id: number; readonly source_project_id: number | null }

/** Whether the caller may read the code of a project now. One statement. */
export async function readsCode(ctx: Ctx, projectId: number): Promise<boolean> {
  const project = await loadProject(String(projectId), ctx)
  return project !== undefined && allows(projectPolicy.read_code, ctx.actor, project.facts)
}

/**
 * Whether the author of a merge request can currently read the code of its source project. An author who cannot sign in reads what
 * anonymous callers read. Every fetch from the source checks this (docs/adr/0017). Two statements.
 */
export async function authorReadsSource(ctx: Ctx, { author_id, source_project_id }: Authored): Promise<boolean> {
  if (source_project_id === null) return false
  return readsCode((await asAccount(ctx, author_id)) ?? { ...ctx, actor: null }, source_project_id)
}
