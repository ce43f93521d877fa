import { contextFor } from '../../../../test/contexts.ts'
import { storedMergeStatus } from '../../../../test/tables/review.ts'
import type { World } from '../../../../test/world.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { RefName } from '../../../git/format/ref-name.ts'
import { moveRefs } from '../../pushes/pushes/move-refs.ts'
import type { StoredProject } from '../../repository/commits/testing.ts'
import { updateMergeRequests } from './update-job.ts'

/** The stored merge status, without requesting a check. */
export const mergeStatusOf = async (world: World, id: number): Promise<string> =>
  (await storedMergeStatus(world, id))[0].merge_status

/** Runs what the job after a push to a project runs. */
export const afterPush = async (world: World, { id }: { readonly id: number }): Promise<void> =>
  updateMergeRequests.run({ projectId: id }, await contextFor(world, null))

/** Moves a branch of a project to an existing commit, as a push by this user, without the job after it. */
export async function pushed(
  ctx: Ctx,
  { id, repository }: StoredProject,
  branch: string,
  from: Oid | null,
  to: Oid | null,
): Promise<void> {
  const outcome = await moveRefs(ctx, id, repository.repo, [{ name: `refs/heads/${branch}` as RefName, from, to }])
  if (outcome !== 'moved') throw new Error(`${branch} has moved meanwhile`)
}
