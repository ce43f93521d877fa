import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { ProjectSubject } from '../../projects/index.ts'

/** What a new issue takes over from the discussions that it continues. */
export type FollowUp = {
  /** Description of the issue, unless the caller gives one. */
  readonly description: string
  /** Resolves the discussions, in the transaction that creates the issue. */
  readonly resolve: (tx: Tx) => Promise<void>
}

/**
 * Finds the unresolved discussions, or one discussion, of a merge request of the project. Undefined if the caller cannot read it.
 * Merge requests belong to a later module, which supplies this.
 */
export type FindFollowUp = (
  ctx: Ctx,
  project: ProjectSubject,
  of: { readonly mergeRequestIid: number; readonly discussionId: string | undefined },
) => Promise<FollowUp | undefined>
