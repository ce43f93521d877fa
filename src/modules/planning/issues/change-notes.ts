import type { Tx } from '../../../db/db.ts'
import { changeNotes, longDate } from '../changes/notes.ts'
import type { IssueChangeFacts } from './event-queries.ts'

/** The texts of system notes about changed attributes of an issue. Labels have events of their own. */
export function notesOf(tx: Tx, before: IssueChangeFacts, now: IssueChangeFacts): Promise<string[]> {
  const others = [
    before.confidential !== now.confidential &&
      (now.confidential ? 'made the issue confidential' : 'made the issue visible to everyone'),
    before.due_date !== now.due_date &&
      (now.due_date === null ? 'removed due date' : `changed due date to ${longDate(now.due_date)}`),
    before.weight !== now.weight &&
      (now.weight === null ? 'removed the weight' : `changed weight to **${now.weight}**`),
  ]
  return changeNotes(tx, 'issue', before, now, { afterAssignees: others })
}
