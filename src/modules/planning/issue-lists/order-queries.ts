import type { Direction, List } from '../../../api/page.ts'
import { raw } from '../../../db/sql.ts'

export const issueOrders = [
  'created_at',
  'updated_at',
  'priority',
  'due_date',
  'relative_position',
  'label_priority',
  'milestone_due',
  'popularity',
  'weight',
] as const

export type IssueOrder = { readonly by: (typeof issueOrders)[number]; readonly sort: Direction }

type Key = List['order'][number]

/** Orders that an index of all issues has. */
const indexed: readonly IssueOrder['by'][] = ['created_at', 'updated_at', 'due_date', 'weight']

export const hasIndex = ({ by }: IssueOrder): boolean => indexed.includes(by)

const milestoneDue = raw('(select o.due_date from milestones o where o.id = m.milestone_id)')

/** The lowest of the priorities that labels of the issue have in its project. */
const labelPriority = raw(`(select min(o.priority) from issue_labels ol
  join label_priorities o on o.label_id = ol.label_id and o.project_id = m.project_id where ol.issue_id = m.id)`)

const popularity = raw(`(select count(*) from award_emoji o
  where o.issue_id = m.id and o.note_id is null and o.name = 'thumbsup')`)

const last = (by: Key['by'], direction: Direction): Key => ({ by, direction, nulls: 'last' })

const keysOf = ({ by, sort }: IssueOrder): readonly Key[] => {
  switch (by) {
    case 'created_at':
    case 'updated_at':
      return [{ by: raw(`m.${by}`), direction: sort }]
    case 'due_date':
    case 'weight':
      return [last(raw(`m.${by}`), sort)]
    case 'milestone_due':
      return [last(milestoneDue, sort)]
    case 'popularity':
      return [{ by: popularity, direction: sort }]
    case 'relative_position':
      return [last(raw('m.relative_position'), 'asc')]
    case 'label_priority':
      return [last(labelPriority, 'asc')]
    case 'priority':
      return [last(milestoneDue, 'asc'), last(labelPriority, 'asc')]
  }
}

/** The keys of a list of issues `m`; ties are newest first. */
export const orderKeys = (order: IssueOrder): List['order'] => [
  ...keysOf(order),
  { by: raw('m.id'), direction: 'desc' },
]
