import { allows } from '../../access/policy.ts'
import { projectPolicy } from '../../access/project-policy.ts'
import { pullScopes, pushScopes, reaches } from '../../access/scopes.ts'
import type { Ctx } from '../../api/ctx.ts'
import { httpUrlToRepo } from '../../api/site.ts'
import { type Plan, planFromPush } from '../../areas/project-creation/service.ts'
import { loadProject, type ProjectSubject } from '../../areas/projects/subject.ts'
import { refusedPush } from '../../areas/pushes/decide.ts'
import type { Service } from './request.ts'

export type Access =
  | { project: ProjectSubject }
  /** Nothing is there yet, and the push may make it. */
  | { plan: Plan }
  /** Credentials may help; says nothing of whether the project is there. */
  | { challenge: true }
  | { refused: 403 | 404; message: string }

const refuse = (message: string): Access => ({ refused: 403, message })

/** May the caller fetch from or push to the project at this path? The same policy as every other door. */
export async function gitAccess(ctx: Ctx, path: string, service: Service): Promise<Access> {
  const { actor } = ctx
  const pushes = service === 'git-receive-pack'
  const project = await loadProject(path, ctx)
  const visible = project && allows(projectPolicy.read_project, actor, project.facts)
  if (!actor) {
    const open = visible && !pushes && allows(projectPolicy.read_code, null, project.facts)
    return open ? { project } : { challenge: true }
  }
  const plan = pushes && !project && reaches(actor.scopes, pushScopes) ? await planFromPush(ctx, path) : undefined
  if (plan) return { plan }
  if (!visible) return { refused: 404, message: 'The project you were looking for could not be found.' }
  if (!reaches(actor.scopes, pushes ? pushScopes : pullScopes))
    return refuse(pushes ? 'You are not allowed to upload code.' : 'You are not allowed to download code.')
  if (pushes) {
    if (!allows(projectPolicy.push_code, actor, project.facts)) return refuse(refusedPush)
    // Fetches follow a rename; a push would make the old address look alive.
    if (project.full_path.toLowerCase() !== path.toLowerCase())
      return refuse(
        `Project '${path}' was moved to '${project.full_path}'.\n\nPlease update your Git remote:\n\n  git remote set-url origin ${httpUrlToRepo(ctx.site, project.full_path)}\n`,
      )
    return { project }
  }
  if (!allows(projectPolicy.read_code, actor, project.facts))
    return refuse('You are not allowed to download code from this project.')
  return { project }
}
