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
import { findSide } from './side-kinds.ts'
import type { GitTarget } from './target.ts'

export type GitTransport = 'http' | 'ssh'

export type Access =
  | { target: GitTarget }
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

/** What the caller may do with the repository at a path. */
type Reach = {
  readonly target: GitTarget
  readonly fullPath: string
  readonly isVisible: boolean
  readonly mayFetch: boolean
  /** An import or fork has not brought the repository yet: a clone of nothing would look complete. */
  readonly isAwaited?: boolean
  readonly mayPush: () => boolean | Promise<boolean>
  readonly refusals: { readonly fetch: string; readonly push: string }
}

/**
 * Whether the caller may fetch from or push to the repository of the project, wiki or snippet at this path. The policy is the
 * same for all transports.
 */
export async function gitAccess(ctx: Ctx, path: string, service: Service, transport: GitTransport): Promise<Access> {
  const { actor } = ctx
  const refusal = protocolRefusal(ctx, transport)
  if (refusal !== undefined) return refuse(refusal)
  const terms = await termsViolation(ctx)
  if (terms !== undefined) return refuse(terms)
  const pushes = service === 'git-receive-pack'
  const reach = await findReach(ctx, path)
  if (!actor) return reach?.isVisible && !pushes && reach.mayFetch ? fetched(reach) : { challenge: true }
  const mayCreate = pushes && !reach && !actor.deployKey && reaches(actor.scopes, pushScopes)
  const plan = mayCreate ? await planFromPush(ctx, path) : undefined
  if (plan) return { plan }
  if (!reach?.isVisible) return { refused: 'missing', message: 'The project you were looking for could not be found.' }
  const { target, fullPath, refusals } = reach
  if (!reaches(actor.scopes, pushes ? pushScopes : pullScopes))
    return refuse(pushes ? 'You are not allowed to upload code.' : 'You are not allowed to download code.')
  if (!pushes) return reach.mayFetch ? fetched(reach) : refuse(refusals.fetch)
  if (!(await reach.mayPush())) return refuse(refusals.push)
  // Fetches follow a redirect; a push would suggest that the old address is still valid.
  if (fullPath.toLowerCase() !== path.toLowerCase())
    return refuse(
      `Project '${path}' was moved to '${fullPath}'.\n\nPlease update your Git remote:\n\n  git remote set-url origin ${urlToRepo(ctx.site, transport, fullPath)}\n`,
    )
  return { target }
}

const fetched = ({ target, isAwaited }: Reach): Access =>
  isAwaited ? { refused: 'missing', message: 'A repository for this project does not exist yet.' } : { target }

/**
 * The repository at a path. A project at exactly this path comes first, because it may have the name of the wiki of a later
 * one; then wikis and snippets; then the project that was there formerly.
 */
async function findReach(ctx: Ctx, path: string): Promise<Reach | undefined> {
  const project = await loadProject(path, ctx)
  if (project?.full_path.toLowerCase() !== path.toLowerCase()) {
    const side = await findSide(ctx, path)
    if (side) return { ...side.subject, target: { side }, mayPush: () => side.subject.mayPush }
  }
  return project && reachOfProject(ctx, project)
}

const reachOfProject = (ctx: Ctx, project: ProjectSubject): Reach => ({
  target: { project },
  fullPath: project.full_path,
  isVisible: allows(projectPolicy.read_project, ctx.actor, project.facts),
  mayFetch: allows(projectPolicy.read_code, ctx.actor, project.facts),
  isAwaited: project.facts.flags['importing'] === true,
  mayPush: async () =>
    allows(projectPolicy.push_code, ctx.actor, project.facts) || (await collaborationBranches(ctx, project)).size > 0,
  refusals: {
    fetch: 'You are not allowed to download code from this project.',
    push: refusedPushBy(ctx.actor, project),
  },
})

const refusedPushBy = (actor: Actor | null, { facts }: ProjectSubject): string =>
  actor?.deployKey && facts.level < levels.developer
    ? 'This deploy key does not have write access to this project.'
    : refusedPush
