import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import { branchName } from '../../../git/format/ref-name.ts'
import { isAncestor } from '../../../git/history/ancestry.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import { listRefTips } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { canPushToBranch, isReserved } from '../branch-access/can-push.ts'
import { onEach, type PushFacts } from './rule.ts'

/** Rules of protected branches, checked in this order. Runs git processes for protected branches only. */
export const protectedBranchRule = onEach(async (change, facts) => {
  const name = branchName(change.name)
  if (name === undefined) return undefined
  const { ctx, project, protections } = facts
  if (isReserved(ctx, project)) return reserved(name, facts)
  const rules = protections.covering('branch', name)
  if (rules.length === 0) return undefined
  if (change.to === null) return deletion(facts)
  const mayForce = facts.mode.continues || rules.some(({ allow_force_push }) => allow_force_push)
  if (change.from !== null && !mayForce && (await isForced(await facts.objects(), change.from, change.to)))
    return 'You are not allowed to force push code to a protected branch on this project.'
  return change.from === null ? creation(name, change.to, facts) : update(name, facts)
})

function reserved(name: string, { ctx, project, protections }: PushFacts): string | undefined {
  if (canPushToBranch(ctx, project, protections, name)) return undefined
  return [
    `A default branch (e.g. master) does not yet exist for ${project.full_path}`,
    'Ask a project Owner or Maintainer to create a default branch:',
    '',
    `  ${ctx.site.url}/${project.full_path}/-/project_members`,
  ].join('\n')
}

function deletion({ ctx, project, mode }: PushFacts): string | undefined {
  if (!allows(projectPolicy.delete_protected_branch, ctx.actor, project.facts))
    return 'You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.'
  return mode.transport === 'api' ? undefined : 'You can only delete protected branches using the web interface.'
}

/**
 * Users who may merge but not push may create a protected branch only through the API, and only from a commit that a
 * protected branch contains.
 */
async function creation(name: string, to: Oid, facts: PushFacts): Promise<string | undefined> {
  const { protections, mode } = facts
  if (protections.grants('push', 'branch', name)) return undefined
  if (!protections.grants('merge', 'branch', name))
    return 'You are not allowed to create protected branches on this project.'
  const holding = await listRefTips(await facts.objects(), 'refs/heads/', { containing: to })
  if (!holding.some((ref) => protections.isProtected('branch', branchName(ref.name) ?? '')))
    return 'You can only use an existing protected branch ref as the basis of a new protected branch.'
  return mode.transport === 'api'
    ? undefined
    : 'You can only create protected branches using the web interface and API.'
}

function update(name: string, { protections, mode }: PushFacts): string | undefined {
  if (protections.grants('push', 'branch', name)) return undefined
  if (!mode.merges) return 'You are not allowed to push code to protected branches on this project.'
  return protections.grants('merge', 'branch', name)
    ? undefined
    : 'You are not allowed to merge code into protected branches on this project.'
}

/** Whether the change loses commits, or one of the objects is not a commit. */
async function isForced(objects: Repository, from: NonNullable<RefChange['from']>, to: Oid): Promise<boolean> {
  const [before, after] = await Promise.all([readCommit(objects, from), readCommit(objects, to)])
  if (!before || !after) return true
  return !after.parents.includes(before.oid) && !(await isAncestor(objects, before.oid, after.oid))
}
