import { allows } from '../../access/policy.ts'
import { projectPolicy } from '../../access/project-policy.ts'
import type { Ctx } from '../../api/ctx.ts'
import { type Failure, forbidden, invalid } from '../../kernel/failure.ts'
import type { ProjectSubject } from '../projects/subject.ts'
import { PushRefusal } from '../pushes/move-refs.ts'

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
const ofAccess = /^You (are not allowed|can only)\b/

/** The failure of `moveRefs` in the words of the API. */
export const translateRefusal = (error: unknown, kind: RefusalKind): unknown =>
  error instanceof PushRefusal ? (ofAccess.test(error.complaint) ? refused(kind) : invalid(error.complaint)) : error
