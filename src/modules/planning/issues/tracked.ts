import type { Tracked } from '../../discussion/index.ts'
import { saveTimeEstimate } from './edit-queries.ts'
import { emitIssue } from './events.ts'
import { asNoteable } from './noteable.ts'
import { touchIssue } from './queries.ts'
import type { IssueSubject } from './subject.ts'

/** An issue with time tracking. */
export const tracked = ({ id, project_id }: IssueSubject): Tracked => ({
  ...asNoteable({ id, project_id }),
  saveEstimate: (tx, seconds) => saveTimeEstimate(tx, id, seconds),
  touch: (tx) => touchIssue(tx, id),
  emitUpdated: (tx, actorId, changes) => emitIssue(tx, id, { kind: 'issue_updated', actorId, changes }),
})
