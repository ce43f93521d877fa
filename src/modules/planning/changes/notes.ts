import type { Tx } from '../../../db/db.ts'
import { usernamesOf } from '../../discussion/index.ts'
import { milestoneTitle } from '../milestones/queries.ts'

/** Attributes that issues and merge requests have in common, before or after a change. */
type Planned = {
  readonly title: string
  readonly description: string | null
  readonly assignee_ids: readonly number[]
  readonly milestone_id: number | null
  readonly discussion_locked: boolean | null
  readonly state: string
}

type Texts = readonly (string | false | undefined)[]

/** Texts of one kind of noteable: notes that take the place of that about the title, and notes before and after those about assignees. */
type More = { readonly titles?: Texts; readonly beforeAssignees?: Texts; readonly afterAssignees?: Texts }

export const titleNote = (before: string, now: string): string | false =>
  before !== now && `changed title from **${before}** to **${now}**`

/** The texts of the system notes about changed attributes, in their order. Labels have events of their own. */
export async function changeNotes(
  tx: Tx,
  noun: string,
  before: Planned,
  now: Planned,
  { titles = [titleNote(before.title, now.title)], beforeAssignees = [], afterAssignees = [] }: More = {},
): Promise<string[]> {
  const notes = [
    ...titles,
    before.description !== now.description && 'changed the description',
    ...beforeAssignees,
    await peopleNote(tx, before.assignee_ids, now.assignee_ids, ['assigned to', 'unassigned']),
    ...afterAssignees,
    before.milestone_id !== now.milestone_id &&
      (now.milestone_id === null
        ? 'removed milestone'
        : `changed milestone to %"${await milestoneTitle(tx, now.milestone_id)}"`),
    (before.discussion_locked === true) !== (now.discussion_locked === true) &&
      `${now.discussion_locked ? 'locked' : 'unlocked'} this ${noun}`,
    before.state !== now.state && (now.state === 'closed' ? 'closed' : 'reopened'),
  ]
  return notes.filter((note) => typeof note === 'string')
}

/** The text of a system note about added and removed users; undefined if there are none. */
export async function peopleNote(
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

const longDates = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' })

/** `2030-01-02` as `January 2, 2030`. */
export const longDate = (day: string): string => longDates.format(new Date(day))
