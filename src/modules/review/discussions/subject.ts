import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import { type Discussed, discussedSubject } from '../../discussion/index.ts'
import { asNoteable } from '../merge-requests/noteable.ts'
import { touchMergeRequest } from '../merge-requests/queries.ts'
import { loadMergeRequest, type MergeRequestSubject, mergeRequest } from '../merge-requests/subject.ts'
import { mergeRequestActions } from '../quick-actions/commands.ts'
import { fileAt } from '../suggested-lines/files.ts'
import { placeOf } from './place.ts'

const discussed = (subject: MergeRequestSubject): Discussed => ({
  ...asNoteable(subject),
  iid: subject.iid,
  title: subject.title,
  factsNow: async (now) =>
    (await loadMergeRequest({ id: String(subject.project.id), merge_request_iid: subject.iid }, now))?.facts,
  policy: mergeRequestPolicy,
  touch: (tx) => touchMergeRequest(tx, subject.id),
  quickActions: mergeRequestActions(subject),
  placeOf: (ctx, wanted) => placeOf(ctx, subject, wanted),
  fileAt: (ctx, position) => fileAt(ctx, subject, position),
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
