import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import { branchName, branchRef, isHiddenRef, tagName, tagRef } from '../../../git/format/ref-name.ts'
import { loadProject, type ProjectSubject } from '../../projects/index.ts'
import { isCollaboration } from '../branch-access/collaboration.ts'
import { Protections } from '../protected-refs/protections.ts'
import { findProtectedRefs } from '../protected-refs/queries.ts'
import { protectedBranchRule } from './branch-rules.ts'
import { codeOwnersRule } from './code-owners-rule.ts'
import { largeFilesRule } from './large-files-rule.ts'
import { onEach, type PushFacts, type PushRule, type Way } from './rule.ts'
import { sizeLimitRule } from './size-limit-rule.ts'
import { tagRule } from './tag-rules.ts'

export const refusedPush = 'You are not allowed to push code to this project.'

/** Git takes names from a push that no command of its own would make, and that nobody could use: `-x`, `HEAD`. */
function unnamable(ref: RefChange['name']): string | undefined {
  const [branch, tag] = [branchName(ref), tagName(ref)]
  if (branch !== undefined && !branchRef(branch)) return `A branch cannot be called ${branch}.`
  return tag !== undefined && !tagRef(tag) ? `A tag cannot be called ${tag}.` : undefined
}

const namesEachRefOnce: PushRule = ({ changes }) => {
  const names = new Set<string>()
  for (const { name } of changes) {
    if (names.has(name)) return `The push names ${name} more than once.`
    names.add(name)
  }
  return undefined
}

/** Every rule, cheap ones first. Later areas (push rules) add theirs here. */
const rules: readonly PushRule[] = [
  namesEachRefOnce,
  onEach(({ name }) => (isHiddenRef(name) ? `The reference ${name} is not yours to change.` : undefined)),
  onEach(({ name, to }, { project }) =>
    to === null && project.default_branch !== null && branchName(name) === project.default_branch
      ? 'The default branch of a project cannot be deleted.'
      : undefined,
  ),
  onEach(({ name, from, to }) => (from === null && to !== null ? unnamable(name) : undefined)),
  // Such a branch could not be told from a commit.
  onEach(({ name, from, to }) =>
    from === null && to !== null && /^[0-9a-f]{40}$/.test(branchName(name) ?? '')
      ? 'You cannot create a branch with a 40-character hexadecimal branch name.'
      : undefined,
  ),
  sizeLimitRule,
  tagRule,
  protectedBranchRule,
  codeOwnersRule,
  largeFilesRule,
]

/** Either why all of it is refused, in a sentence, or the project that it is let into. */
export type Verdict = { readonly refused: string } | { readonly refused: undefined; readonly project: ProjectSubject }

/**
 * The verdict on a change of refs, whatever the door. Project
 * and protections are read anew, since a push may have taken long: who lost the right meanwhile may not push any more.
 * Two statements on one round trip; git processes only where a branch is protected, and one for a push
 * where large files may be stored.
 */
export async function decide(
  ctx: Ctx,
  projectId: number,
  changes: readonly RefChange[],
  objects: PushFacts['objects'],
  way: Way,
): Promise<Verdict> {
  const [project, protectedRefs] = await Promise.all([
    loadProject(String(projectId), ctx),
    findProtectedRefs(ctx.db, projectId, ctx.actor),
  ])
  const isLetIn =
    project &&
    (allows(projectPolicy.push_code, ctx.actor, project.facts) || (await isCollaboration(ctx, project, changes)))
  if (!isLetIn) return { refused: refusedPush }
  const protections = new Protections(protectedRefs, ctx.actor, project.facts.level)
  for (const rule of rules) {
    const complaint = await rule({ ctx, project, protections, way, changes, objects })
    if (complaint !== undefined) return { refused: complaint }
  }
  return { refused: undefined, project }
}
