import { issuePolicy } from '../../../access/issue-policy.ts'
import { type Discussed, discussedSubject } from '../../discussion/index.ts'
import { issueActions } from '../issue-actions/commands.ts'
import { asNoteable } from '../issues/noteable.ts'
import { touchIssue } from '../issues/queries.ts'
import { type IssueSubject, issue, loadIssueById } from '../issues/subject.ts'

const discussed = (subject: IssueSubject): Discussed => ({
  ...asNoteable(subject),
  iid: subject.iid,
  title: subject.title,
  factsNow: async (now) => (await loadIssueById(subject.id, now))?.facts,
  policy: issuePolicy,
  touch: (tx) => touchIssue(tx, subject.id),
  quickActions: issueActions(subject),
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
