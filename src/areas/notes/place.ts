import type { Ctx } from '../../api/ctx.ts'
import { readCommit } from '../../git/commits.ts'
import { patchesBetweenTrees } from '../../git/patches.ts'
import { diffLimits } from '../commits/diff-limits.ts'
import { findLine, findPoint, type Position, type WantedLine, type WantedPoint } from '../discussions/position.ts'
import { refuseNote } from '../discussions/text.ts'
import type { MergeRequestSubject } from '../merge-requests/subject.ts'
import { openRepository } from '../repositories/open.ts'
import { findVersion } from './version-queries.ts'

export type WantedPlace = WantedLine & WantedPoint & { readonly position_type: 'text' | 'image' }

/** A place in the diff of some version of a merge request. Fails when it is not shown there. Costs what that diff costs. */
export async function placeOf(ctx: Ctx, mergeRequest: MergeRequestSubject, wanted: WantedPlace): Promise<Position> {
  const version = await findVersion(ctx.db, mergeRequest.id, wanted)
  if (!version) throw refuseNote('position', 'is of no version of the merge request')
  const repo = openRepository(ctx, mergeRequest.project)
  const [base, head] = await Promise.all([readCommit(repo, version.base_oid), readCommit(repo, version.head_oid)])
  const files =
    base && head ? (await patchesBetweenTrees(repo, base.tree, head.tree, diffLimits(ctx.settings))).files : []
  const position = wanted.position_type === 'text' ? findLine(files, wanted)?.position : findPoint(files, wanted)
  if (!position) throw refuseNote('position', 'is not in the diff of the merge request')
  return position
}
