import type { Converter } from './converter.ts'
import { isObject, listIn, type Nested, oneIn, pick, timesOf } from './values.ts'

/** How the lines of the labels and milestones are found that a board nests. */
export type BoardParts = {
  readonly labelOf: (label: Nested) => Promise<number | undefined>
  readonly milestoneOf: (milestone: Nested | undefined) => Promise<number | undefined>
}

/** Adds a board with its lists, labels and assignee. `within` has further values of its record. */
export async function addBoard(to: Converter, given: Nested, parts: BoardParts, within: Nested = {}): Promise<void> {
  const { labelOf, milestoneOf } = parts
  const board = await to.add('boards', {
    ...within,
    name: given['name'],
    milestone: await milestoneOf(oneIn(given, 'milestone')),
    ...pick(given, 'weight', 'hide_backlog_list', 'hide_closed_list'),
    ...timesOf(given),
  })
  if (board === undefined) return
  for (const list of listIn(given, 'lists')) {
    const [label, milestone, user] = [oneIn(list, 'label'), oneIn(list, 'milestone'), list['user_id']]
    // The lists of open and closed issues are no rows here.
    if (!label && !milestone && !Number.isSafeInteger(user)) continue
    const of = {
      label: label && (await labelOf(label)),
      milestone: label ? undefined : await milestoneOf(milestone),
      assignee: label || milestone ? undefined : to.userOf(user),
    }
    if (Object.values(of).every((each) => each === undefined)) to.leaveOut('board_lists')
    else
      await to.add('board_lists', {
        board,
        ...of,
        position: list['position'] ?? 0,
        ...pick(list, 'max_issue_count', 'max_issue_weight'),
        ...timesOf(list),
      })
  }
  for (const label of labelsOf(given)) {
    const line = isObject(label) ? await labelOf(label) : undefined
    if (line === undefined) to.leaveOut('board_labels')
    else await to.add('board_labels', { board, label: line })
  }
  const limit = oneIn(given, 'board_assignee')
  if (!limit) return
  // The importer takes the place of other unknown people, but a board of their issues would be another one.
  const assignee = to.usernames.get(limit['assignee_id'])
  if (assignee === undefined) to.leaveOut('board_assignees')
  else await to.add('board_assignees', { board, assignee })
}

/** Exports have the labels of a board as they are, or each in a record of its own. */
const labelsOf = (given: Nested): readonly unknown[] => [
  ...listIn(given, 'board_labels').map(({ label }) => label),
  ...listIn(given, 'labels'),
]
