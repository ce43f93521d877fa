import type { Caller } from '../../../access/actor.ts'
import { levels } from '../../../access/levels.ts'
import { allows, type Facts, type Rule } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import { reaches, registryScopes } from '../../../access/scopes.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { termsViolation } from '../../instance/index.ts'
import { type ProjectRow, projectFacts } from '../../projects/index.ts'
import { isRepositoryName, nameBelow, projectPathsOf } from '../names/names.ts'
import { findProjectAmong } from './queries.ts'

/** What clients of the registry do with a repository. */
export type RegistryAction = 'pull' | 'push' | 'delete'

/** A repository that the caller may use; it need not exist yet. */
export type Place = {
  readonly project: ProjectRow
  /** What follows the path of the project: '' for the path itself. */
  readonly name: string
}

const rules: Readonly<Record<RegistryAction, Rule>> = {
  pull: projectPolicy.read_container_image,
  push: projectPolicy.create_container_image,
  delete: projectPolicy.admin_container_image,
}

const isAllowed = (action: RegistryAction, caller: Caller, facts: Facts): boolean =>
  allows(projectPolicy.read_project, caller, facts) && allows(rules[action], caller, facts)

/** The repository with this name, with what the caller may do there: nothing if there is no such project. */
export async function placeFor(
  ctx: Ctx,
  repository: string,
): Promise<{ place: Place; may(action: RegistryAction): boolean } | undefined> {
  if (!isRepositoryName(repository) || (await termsViolation(ctx)) !== undefined) return undefined
  const project = await findProjectAmong(ctx.db, ctx.actor, projectPathsOf(repository))
  if (!project) return undefined
  const { actor } = ctx
  const facts: Facts = projectFacts(project)
  const ofToken: Facts = {
    ...facts,
    flags: { ...facts.flags, deploy_token: actor?.deployToken !== undefined && facts.level >= levels.reporter },
  }
  const may = (action: RegistryAction): boolean =>
    // As with Git, images are pulled by the old path of a project, and pushed by the new one.
    !(project.redirect && action !== 'pull') &&
    // Scopes and limits of a credential never remove what anonymous callers may do.
    ((reaches(actor?.scopes, registryScopes[action]) && isAllowed(action, actor, ofToken)) ||
      isAllowed(action, null, { ...facts, level: 0 }))
  return { place: { project, name: nameBelow(repository, project.path_key) }, may }
}

/** The repository if the caller may do this now. */
export async function placeIfAllowed(ctx: Ctx, repository: string, action: RegistryAction): Promise<Place | undefined> {
  const found = await placeFor(ctx, repository)
  return found?.may(action) ? found.place : undefined
}

/** Whether the caller may list all repositories: administrators with a token for the whole API, who accepted the terms. */
export const mayListCatalog = async (ctx: Ctx): Promise<boolean> =>
  ctx.actor?.admin === true && reaches(ctx.actor.scopes, ['api']) && (await termsViolation(ctx)) === undefined
