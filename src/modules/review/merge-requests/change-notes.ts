import type { Tx } from '../../../db/db.ts'
import { changeNotes, peopleNote } from '../../planning/index.ts'
import type { MergeRequestFacts } from './event-queries.ts'
import { isDraft } from './title.ts'

/** The texts of system notes about changed attributes of a merge request. Labels have events of their own. */
export async function notesOf(tx: Tx, before: MergeRequestFacts, now: MergeRequestFacts): Promise<string[]> {
  const asked = await peopleNote(tx, before.reviewer_ids, now.reviewer_ids, [
    'requested review from',
    'removed review request for',
  ])
  return changeNotes(tx, 'merge request', before, now, {
    title: draftNote(before.title, now.title),
    beforeAssignees: [
      before.target_branch !== now.target_branch &&
        `changed target branch from \`${before.target_branch}\` to \`${now.target_branch}\``,
    ],
    afterAssignees: [asked],
  })
}

function draftNote(before: string, now: string): string | undefined {
  const [wasMarked, isMarked] = [isDraft(before), isDraft(now)]
  return wasMarked === isMarked ? undefined : `${isMarked ? 'marked' : 'unmarked'} as a **Work In Progress**`
}
