import type { Tx } from '../../../db/db.ts'
import { addSystemNote, type Noteable } from '../../discussion/index.ts'
import { changeNotes, longDate } from '../changes/notes.ts'
import type { IssueChangeFacts } from './event-queries.ts'

/** Adds system notes about changed attributes, with the time `at` if given. Labels have events of their own. */
export async function addChangeNotes(
  tx: Tx,
  noteable: Noteable,
  authorId: number,
  before: IssueChangeFacts,
  now: IssueChangeFacts,
  at: Date | undefined,
): Promise<void> {
  const others = [
    before.confidential !== now.confidential &&
      (now.confidential ? 'made the issue confidential' : 'made the issue visible to everyone'),
    before.due_date !== now.due_date &&
      (now.due_date === null ? 'removed due date' : `changed due date to ${longDate(now.due_date)}`),
    before.weight !== now.weight &&
      (now.weight === null ? 'removed the weight' : `changed weight to **${now.weight}**`),
  ]
  for (const note of await changeNotes(tx, 'issue', before, now, { afterAssignees: others }))
    await addSystemNote(tx, noteable, authorId, note, at)
}
