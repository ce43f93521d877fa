import { allows } from '../../access/policy.ts'
import { projectPolicy } from '../../access/project-policy.ts'
import type { Ctx } from '../../api/ctx.ts'
import { type Failure, forbidden, invalid } from '../../kernel/failure.ts'
import type { ProjectSubject } from '../projects/subject.ts'

/** How a refused branch reads to those who commit through the API. */
const refusal = 'You are not allowed to push into this branch'

/** Who is refused a branch gets a 403 from the endpoints of commits, and a 400 from those of files. */
export type RefusalKind = 'forbidden' | 'invalid'

const refused = (kind: RefusalKind): Failure => (kind === 'forbidden' ? forbidden(refusal) : invalid(refusal))

/** Fails early, before anything else is looked at, unless the caller may push to the project. */
export function requirePushAccess(ctx: Ctx, project: ProjectSubject): void {
  if (!allows(projectPolicy.push_code, ctx.actor, project.facts)) throw refused('forbidden')
}

/** Refusals of access by the verdict on pushes; others (of push rules) are told as they are. */
const ofAccess = /^(You are not allowed|You can only|A default branch)\b/

/** What the verdict on a push says, in the words of the API. */
export const refusalOf =
  (kind: RefusalKind) =>
  (reason: string): Failure =>
    ofAccess.test(reason) ? refused(kind) : invalid(reason)
