import { changes, event, flag, id, number, optional } from './declare.ts'

const issue = { payload: { issue_id: id, iid: number, changes } }

/** Events of issues. */
export const planningEvents = {
  issue_opened: event('An issue is opened', ['project'], { ...issue, feed: { action: 'created' } }),
  issue_updated: event('An issue changes', ['project'], issue),
  issue_closed: event('An issue is closed', ['project'], { ...issue, feed: { action: 'closed' } }),
  issue_reopened: event('An issue is open again', ['project'], { ...issue, feed: { action: 'reopened' } }),
  issue_deleted: event('An issue is deleted', ['project'], {
    // Absent in older events.
    payload: { ...issue.payload, confidential: optional(flag) },
  }),
}
