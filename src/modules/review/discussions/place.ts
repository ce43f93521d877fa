import type { Ctx } from '../../../api/ctx.ts'
import { findLine, findPoint, type NotePlace, refuseNote, type WantedPlace } from '../../discussion/index.ts'
import { openRepository } from '../../projects/index.ts'
import type { MergeRequestSubject } from '../merge-requests/subject.ts'
import { patchesOf } from '../merge-requests/versions.ts'
import { findVersion } from './version-queries.ts'

/**
 * A position in the diff of a version of a merge request. Fails if the diff does not show it. Costs what computing that diff costs.
 */
export async function placeOf(ctx: Ctx, mergeRequest: MergeRequestSubject, wanted: WantedPlace): Promise<NotePlace> {
  const version = await findVersion(ctx.db, mergeRequest.id, wanted)
  if (!version) throw refuseNote('position', 'is of no version of the merge request')
  const repo = openRepository(ctx, mergeRequest.project)
  const { files } = await patchesOf(ctx, repo, { head: version.head_oid, base: version.base_oid })
  const position = wanted.position_type === 'text' ? findLine(files, wanted)?.position : findPoint(files, wanted)
  if (!position) throw refuseNote('position', 'is not in the diff of the merge request')
  return { position }
}
