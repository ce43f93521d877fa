import type { Actor } from '../../../access/actor.ts'
import { levels } from '../../../access/levels.ts'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { pullScopes, pushScopes, reaches } from '../../../access/scopes.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { httpUrlToRepo, type Site, sshUrlToRepo } from '../../../api/site.ts'
import { termsViolation } from '../../instance/index.ts'
import { type Plan, planFromPush } from '../../lifecycle/index.ts'
import { loadProject, type ProjectSubject } from '../../projects/index.ts'
import { collaborationBranches, refusedPush } from '../../pushes/index.ts'
import type { Service } from './address.ts'

export type GitTransport = 'http' | 'ssh'

export type Access =
  | { project: ProjectSubject }
  /** The project does not exist, and the push may create it. */
  | { plan: Plan }
  /** Authentication may help. Does not reveal whether the project exists. */
  | { challenge: true }
  /** `missing` is also the answer if the caller may not see the project. */
  | { refused: 'forbidden' | 'missing'; message: string }

const refuse = (message: string): Access => ({ refused: 'forbidden', message })

/** URL of a repository over this transport. */
export const urlToRepo = (site: Site, transport: GitTransport, fullPath: string): string =>
  transport === 'ssh' ? sshUrlToRepo(site, fullPath) : httpUrlToRepo(site, fullPath)

/** Error message if the installation allows git over the other transport only. */
export function protocolRefusal({ settings }: Pick<Ctx, 'settings'>, transport: GitTransport): string | undefined {
  const only = settings.enabled_git_access_protocol
  return only === null || only === transport ? undefined : `Git access over ${transport.toUpperCase()} is not allowed`
}

/** Whether the caller may fetch from or push to the project at this path. The policy is the same for all transports. */
export async function gitAccess(ctx: Ctx, path: string, service: Service, transport: GitTransport): Promise<Access> {
  const { actor } = ctx
  const refusal = protocolRefusal(ctx, transport)
  if (refusal !== undefined) return refuse(refusal)
  const terms = await termsViolation(ctx)
  if (terms !== undefined) return refuse(terms)
  const pushes = service === 'git-receive-pack'
  const project = await loadProject(path, ctx)
  const visible = project && allows(projectPolicy.read_project, actor, project.facts)
  if (!actor) {
    const open = visible && !pushes && allows(projectPolicy.read_code, null, project.facts)
    return open ? { project } : { challenge: true }
  }
  const mayCreate = pushes && !project && !actor.deployKey && reaches(actor.scopes, pushScopes)
  const plan = mayCreate ? await planFromPush(ctx, path) : undefined
  if (plan) return { plan }
  if (!visible) return { refused: 'missing', message: 'The project you were looking for could not be found.' }
  if (!reaches(actor.scopes, pushes ? pushScopes : pullScopes))
    return refuse(pushes ? 'You are not allowed to upload code.' : 'You are not allowed to download code.')
  if (pushes) {
    const isLetIn =
      allows(projectPolicy.push_code, actor, project.facts) || (await collaborationBranches(ctx, project)).size > 0
    if (!isLetIn) return refuse(refusedPushBy(actor, project))
    // Fetches follow a redirect; a push would suggest that the old address is still valid.
    if (project.full_path.toLowerCase() !== path.toLowerCase())
      return refuse(
        `Project '${path}' was moved to '${project.full_path}'.\n\nPlease update your Git remote:\n\n  git remote set-url origin ${urlToRepo(ctx.site, transport, project.full_path)}\n`,
      )
    return { project }
  }
  if (!allows(projectPolicy.read_code, actor, project.facts))
    return refuse('You are not allowed to download code from this project.')
  return { project }
}

const refusedPushBy = (actor: Actor, { facts }: ProjectSubject): string =>
  actor.deployKey && facts.level < levels.developer
    ? 'This deploy key does not have write access to this project.'
    : refusedPush
