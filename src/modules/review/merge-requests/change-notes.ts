import type { Tx } from '../../../db/db.ts'
import { addSystemNote, type Noteable } from '../../discussion/index.ts'
import { milestoneTitle, usernamesOf } from './edit-queries.ts'
import type { MergeRequestFacts } from './event-queries.ts'
import { isDraft } from './title.ts'

/** Adds system notes about changed attributes. Labels have events of their own. */
export async function addChangeNotes(
  tx: Tx,
  noteable: Noteable,
  authorId: number,
  before: MergeRequestFacts,
  now: MergeRequestFacts,
): Promise<void> {
  const notes = [
    titleNote(before.title, now.title),
    before.description !== now.description && 'changed the description',
    before.target_branch !== now.target_branch &&
      `changed target branch from \`${before.target_branch}\` to \`${now.target_branch}\``,
    await peopleNote(tx, before.assignee_ids, now.assignee_ids, ['assigned to', 'unassigned']),
    await peopleNote(tx, before.reviewer_ids, now.reviewer_ids, [
      'requested review from',
      'removed review request for',
    ]),
    before.milestone_id !== now.milestone_id &&
      (now.milestone_id === null
        ? 'removed milestone'
        : `changed milestone to %"${await milestoneTitle(tx, now.milestone_id)}"`),
    (before.discussion_locked === true) !== (now.discussion_locked === true) &&
      `${now.discussion_locked ? 'locked' : 'unlocked'} this merge request`,
    before.state !== now.state && (now.state === 'closed' ? 'closed' : 'reopened'),
  ]
  for (const note of notes) if (note) await addSystemNote(tx, noteable, authorId, note)
}

function titleNote(before: string, now: string): string | undefined {
  if (before === now) return undefined
  const [wasMarked, isMarked] = [isDraft(before), isDraft(now)]
  if (wasMarked !== isMarked) return `${isMarked ? 'marked' : 'unmarked'} as a **Work In Progress**`
  return `changed title from **${before}** to **${now}**`
}

async function peopleNote(
  tx: Tx,
  before: readonly number[],
  now: readonly number[],
  [puts, takes]: readonly [added: string, removed: string],
): Promise<string | undefined> {
  const added = now.filter((id) => !before.includes(id))
  const removed = before.filter((id) => !now.includes(id))
  if (added.length === 0 && removed.length === 0) return undefined
  const names = await usernamesOf(tx, [...added, ...removed])
  const listed = (ids: readonly number[]) => ids.map((id) => `@${names.get(id)}`).join(', ')
  return [
    ...(added.length > 0 ? [`${puts} ${listed(added)}`] : []),
    ...(removed.length > 0 ? [`${takes} ${listed(removed)}`] : []),
  ].join(' and ')
}
