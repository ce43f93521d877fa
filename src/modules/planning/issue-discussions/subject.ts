import { issuePolicy } from '../../../access/issue-policy.ts'
import { type Discussed, discussedSubject, type Tracked } from '../../discussion/index.ts'
import { saveTimeEstimate } from '../issues/edit-queries.ts'
import { emitIssue } from '../issues/events.ts'
import { asNoteable } from '../issues/noteable.ts'
import { touchIssue } from '../issues/queries.ts'
import { type IssueSubject, issue } from '../issues/subject.ts'

const discussed = (subject: IssueSubject): Discussed => ({
  ...asNoteable(subject),
  iid: subject.iid,
  title: subject.title,
  facts: subject.facts,
  policy: issuePolicy,
  touch: (tx) => touchIssue(tx, subject.id),
})

/** An issue with time tracking. */
export const tracked = ({ id, project_id }: IssueSubject): Tracked => ({
  ...asNoteable({ id, project_id }),
  saveEstimate: (tx, seconds) => saveTimeEstimate(tx, id, seconds),
  touch: (tx) => touchIssue(tx, id),
  emitUpdated: (tx, actorId, changes) => emitIssue(tx, id, { kind: 'issue_updated', actorId, changes }),
})

/** Issues as the subject of endpoints for notes, discussions, awards and time tracking. */
export const discussedIssue = discussedSubject({
  type: 'Issue',
  subject: issue,
  path: '/projects/:id/issues/:issue_iid',
  read: 'read_issue',
  update: 'update_issue',
  discussed,
})
