import { allows } from '../../access/policy.ts'
import { projectPolicy } from '../../access/project-policy.ts'
import type { Ctx } from '../../api/ctx.ts'
import { branchName, isHiddenRef } from '../../git/ref-name.ts'
import type { Repository } from '../../git/repository.ts'
import { loadProject, type ProjectSubject } from '../projects/subject.ts'
import type { RefChange } from './change.ts'

export const refusedPush = 'You are not allowed to push code to this project.'

/** What a rule may look at. `objects` reads what the push brings as well, before git has accepted it. */
export type PushFacts = {
  readonly ctx: Ctx
  readonly project: ProjectSubject
  readonly changes: readonly RefChange[]
  readonly objects: Repository
}

/** A rule on pushes: the complaint, or `undefined` when it has none. The first complaint refuses the whole push. */
export type PushRule = (facts: PushFacts) => Promise<string | undefined> | string | undefined

const firstComplaint =
  (complaint: (change: RefChange, facts: PushFacts) => string | undefined): PushRule =>
  (facts) => {
    for (const change of facts.changes) {
      const text = complaint(change, facts)
      if (text !== undefined) return text
    }
    return undefined
  }

/** Every rule, cheap ones first. Later areas (protected branches, push rules) add theirs here. */
const rules: readonly PushRule[] = [
  firstComplaint(({ name }) => (isHiddenRef(name) ? `The reference ${name} is not yours to change.` : undefined)),
  firstComplaint(({ name, to }, { project }) =>
    to === null && project.default_branch !== null && branchName(name) === project.default_branch
      ? 'The default branch of a project cannot be deleted.'
      : undefined,
  ),
  // Such a branch could not be told from a commit.
  firstComplaint(({ name, from, to }) =>
    from === null && to !== null && /^[0-9a-f]{40}$/.test(branchName(name) ?? '')
      ? 'You cannot create a branch with a 40-character hexadecimal branch name.'
      : undefined,
  ),
]

/**
 * The verdict on a change of refs, whatever the door: `undefined` lets it through, a sentence refuses all of it. The
 * project is read anew, since a push may have taken long: who lost the right meanwhile may not push any more.
 */
export async function decide(
  ctx: Ctx,
  projectId: number,
  changes: readonly RefChange[],
  objects: Repository,
): Promise<string | undefined> {
  const project = await loadProject(String(projectId), ctx)
  if (!project || !allows(projectPolicy.push_code, ctx.actor, project.facts)) return refusedPush
  for (const rule of rules) {
    const complaint = await rule({ ctx, project, changes, objects })
    if (complaint !== undefined) return complaint
  }
  return undefined
}
