import type { ParamsOf } from '../../../api/params/params-of.ts'
import { Flag, OneOf, Optional, Params, WholeOr } from '../../../api/params/types.ts'
import type { Plan } from '../../../kernel/plan.ts'
import {
  exclusiveUsers,
  given,
  idOrPresence,
  matchingFiltersOf,
  matchingParams,
  noteableFiltersOf,
  noteableParams,
  numbers,
  presences,
  searchedFields,
  viewParams,
} from '../filters/params.ts'
import { issueStates } from '../issues/states.ts'
import { type IssueOrder, issueOrders } from './order-queries.ts'
import { dueFilters, type IssueFilters } from './queries.ts'

const weight = Optional(WholeOr(presences, { tier: 'starter', description: 'Weight of the issue, or None, Any' }))
const epic_id = Optional(
  WholeOr(presences, { tier: 'ultimate', description: 'ID of the epic of the issue, or None, Any' }),
)

/** Mutually exclusive parameters. */
const rules = { mutuallyExclusive: exclusiveUsers } as const

const negatedParams = Params(
  { ...matchingParams, in: searchedFields, iids: numbers, weight, epic_id },
  { ...rules, description: 'Leave out the issues that match any of these filters' },
)

const filterParams = (scope: 'created_by_me' | 'all') => ({
  ...noteableParams(scope),
  iids: numbers,
  weight,
  epic_id,
  confidential: Optional(Flag({ description: 'Only confidential issues, or only others' })),
  due_date: Optional(
    OneOf(dueFilters, {
      description: '`0` without due date, `any` with one, `overdue`, or due in this period; weeks start on Monday',
    }),
  ),
  not: Optional(negatedParams),
})

/** Of which state the issues of a list are, and how it shows them. */
const listedParams = {
  state: OneOf([...issueStates, 'all'], { default: 'all', description: 'State of the issues' }),
  order_by: OneOf(issueOrders, {
    default: 'created_at',
    description:
      '`priority` is the due date of the milestone, then the label priority. `priority`, `label_priority` and `relative_position` have one direction',
  }),
  ...viewParams,
}

const groupParam = { non_archived: Flag({ default: true, description: 'Exclude issues of archived projects' }) }

const all = { ...filterParams('created_by_me'), in: searchedFields }
export const allParams = Params({ ...listedParams, ...all }, rules)
export const projectParams = Params({ ...listedParams, ...filterParams('all') }, rules)
export const groupParams = Params({ ...listedParams, ...filterParams('all'), ...groupParam }, rules)

const below = { ...filterParams('all'), in: searchedFields }
export const allStatisticsParams = Params(all, rules)
export const projectStatisticsParams = Params(below, rules)
export const groupStatisticsParams = Params({ ...below, ...groupParam }, rules)

/** The parsed filters of any list. */
type FilterInput = ParamsOf<typeof allStatisticsParams>

/** The parsed parameters of any list. */
export type ListInput = ParamsOf<typeof allParams>

export const orderOf = ({ order_by: by, sort }: Pick<ListInput, 'order_by' | 'sort'>): IssueOrder => ({ by, sort })

const weightOf = (weight: FilterInput['weight']): IssueFilters['weight'] =>
  typeof weight === 'number' ? { is: weight } : weight

/** The filters that the parameters of a list or of statistics request. */
export const filtersOf = (
  { state, confidential, due_date, weight, epic_id, not, ...input }: FilterInput & Partial<Pick<ListInput, 'state'>>,
  plan: Plan,
): IssueFilters => ({
  ...noteableFiltersOf(input, plan),
  ...given<Pick<IssueFilters, 'state' | 'confidential' | 'due' | 'weight' | 'epic' | 'not'>>({
    state: state === 'all' ? undefined : state,
    confidential,
    due: due_date,
    weight: weightOf(weight),
    epic: idOrPresence(epic_id),
    not: not && {
      ...matchingFiltersOf(not, plan),
      ...given<Pick<IssueFilters, 'weight' | 'epic'>>({
        weight: weightOf(not.weight),
        epic: idOrPresence(not.epic_id),
      }),
    },
  }),
})
