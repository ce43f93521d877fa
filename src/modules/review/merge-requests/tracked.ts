import type { Tracked } from '../../discussion/index.ts'
import { saveTimeEstimate } from './edit-queries.ts'
import { emitMergeRequest } from './events.ts'
import { asNoteable } from './noteable.ts'
import { touchMergeRequest } from './queries.ts'
import type { MergeRequestSubject } from './subject.ts'

/** A merge request with time tracking. */
export const tracked = ({ id, project_id }: MergeRequestSubject): Tracked => ({
  ...asNoteable({ id, project_id }),
  saveEstimate: (tx, seconds) => saveTimeEstimate(tx, id, seconds),
  touch: (tx) => touchMergeRequest(tx, id),
  emitUpdated: (tx, actorId, changes) => emitMergeRequest(tx, id, { kind: 'merge_request_updated', actorId, changes }),
})
