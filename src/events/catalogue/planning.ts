import { changes, event, flag, id, number, optional } from './declare.ts'

const issue = { payload: { issue_id: id, iid: number, changes } }
const epic = { payload: { epic_id: id, iid: number, changes } }

/** Events of issues and epics. */
export const planningEvents = {
  issue_opened: event('An issue is opened', ['project'], { ...issue, feed: { action: 'created' } }),
  issue_updated: event('An issue changes', ['project'], issue),
  issue_closed: event('An issue is closed', ['project'], { ...issue, feed: { action: 'closed' } }),
  issue_reopened: event('An issue is open again', ['project'], { ...issue, feed: { action: 'reopened' } }),
  issue_deleted: event('An issue is deleted', ['project'], {
    // Absent in older events.
    payload: { ...issue.payload, confidential: optional(flag) },
  }),

  epic_opened: event('An epic is opened', ['group'], { ...epic, feed: { action: 'created', inGroups: true } }),
  epic_updated: event('An epic changes', ['group'], epic),
  epic_closed: event('An epic is closed', ['group'], { ...epic, feed: { action: 'closed', inGroups: true } }),
  epic_reopened: event('An epic is open again', ['group'], { ...epic, feed: { action: 'reopened', inGroups: true } }),
  epic_deleted: event('An epic is deleted', ['group'], { payload: { ...epic.payload, confidential: optional(flag) } }),
}
