import type { Direction, List } from '../../../api/list.ts'
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

/** Which indexes have the order. */
export function wayOf({ by }: IssueOrder): 'created' | 'updated' | 'other' {
  if (by === 'created_at') return 'created'
  return by === 'updated_at' ? 'updated' : 'other'
}

type Key = List['order'][number]

const last = (by: string, direction: Direction): Key => ({ by: raw(by), direction, nulls: 'last' })

const keysOf = ({ by, sort }: IssueOrder): readonly Key[] => {
  switch (by) {
    case 'created_at':
    case 'updated_at':
      return [{ by: raw(`m.${by}`), direction: sort }]
    case 'due_date':
    case 'weight':
    case 'milestone_due':
      return [last(`m.${by}`, sort)]
    case 'popularity':
      return [{ by: raw('m.upvotes'), direction: sort }]
    case 'relative_position':
    case 'label_priority':
      return [last(`m.${by}`, 'asc')]
    case 'priority':
      return [last('m.milestone_due', 'asc'), last('m.label_priority', 'asc')]
  }
}

/** The keys of a list of issues `m`; ties are newest first. Each order has an index, in both directions. */
export const orderKeys = (order: IssueOrder): List['order'] => [
  ...keysOf(order),
  { by: raw('m.id'), direction: 'desc' },
]
