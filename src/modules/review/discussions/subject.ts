import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import { type Discussed, discussedSubject, type Tracked } from '../../discussion/index.ts'
import { saveTimeEstimate } from '../merge-requests/edit-queries.ts'
import { emitMergeRequest } from '../merge-requests/events.ts'
import { asNoteable } from '../merge-requests/noteable.ts'
import { touchMergeRequest } from '../merge-requests/queries.ts'
import { type MergeRequestSubject, mergeRequest } from '../merge-requests/subject.ts'
import { placeOf } from './place.ts'

const discussed = (subject: MergeRequestSubject): Discussed => ({
  ...asNoteable(subject),
  iid: subject.iid,
  title: subject.title,
  facts: subject.facts,
  policy: mergeRequestPolicy,
  touch: (tx) => touchMergeRequest(tx, subject.id),
  placeOf: (ctx, wanted) => placeOf(ctx, subject, wanted),
})

/** A merge request with time tracking. */
export const tracked = ({ id, project_id }: MergeRequestSubject): Tracked => ({
  ...asNoteable({ id, project_id }),
  saveEstimate: (tx, seconds) => saveTimeEstimate(tx, id, seconds),
  touch: (tx) => touchMergeRequest(tx, id),
  emitUpdated: (tx, actorId, changes) => emitMergeRequest(tx, id, { kind: 'merge_request_updated', actorId, changes }),
})

/** Merge requests as the subject of endpoints for notes, discussions, awards and time tracking. */
export const discussedMergeRequest = discussedSubject({
  type: 'MergeRequest',
  subject: mergeRequest,
  path: '/projects/:id/merge_requests/:merge_request_iid',
  read: 'read_merge_request',
  update: 'update_merge_request',
  discussed,
})
