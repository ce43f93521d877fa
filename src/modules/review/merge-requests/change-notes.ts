import type { Tx } from '../../../db/db.ts'
import { changeNotes, peopleNote, titleNote } from '../../planning/index.ts'
import type { MergeRequestFacts } from './event-queries.ts'
import { isDraft, titleAs } from './title.ts'

/** The texts of system notes about changed attributes of a merge request. Labels have events of their own. */
export async function notesOf(tx: Tx, before: MergeRequestFacts, now: MergeRequestFacts): Promise<string[]> {
  const asked = await peopleNote(tx, before.reviewer_ids, now.reviewer_ids, [
    'requested review from',
    'removed review request for',
  ])
  return changeNotes(tx, 'merge request', before, now, {
    titles: titleNotes(before.title, now.title),
    beforeAssignees: [
      before.target_branch !== now.target_branch &&
        `changed target branch from \`${before.target_branch}\` to \`${now.target_branch}\``,
    ],
    afterAssignees: [asked],
  })
}

/** A change of the prefix alone is a note about the draft only. */
function titleNotes(before: string, now: string): (string | false)[] {
  const [wasMarked, isMarked] = [isDraft(before), isDraft(now)]
  if (wasMarked === isMarked) return [titleNote(before, now)]
  const sameText = titleAs(before, false) === titleAs(now, false)
  return [`${isMarked ? 'marked' : 'unmarked'} as a **Work In Progress**`, !sameText && titleNote(before, now)]
}
