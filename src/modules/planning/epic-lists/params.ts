import type { ParamsOf } from '../../../api/params/params-of.ts'
import { Flag, OneOf, Optional, Params, Timestamp } from '../../../api/params/types.ts'
import type { Plan } from '../../../kernel/plan.ts'
import { epicStates } from '../epics/states.ts'
import { given, matchingFiltersOf, matchingParams, numbers, searchedFields, viewParams } from '../filters/params.ts'
import { type EpicFilters, type EpicMatching, type EpicOrder, epicOrders } from './queries.ts'

const { labels, author_id, author_username, my_reaction_emoji, search } = matchingParams
const matching = { labels, author_id, author_username, my_reaction_emoji, search, in: searchedFields, iids: numbers }

const when = (description: string) => Optional(Timestamp({ description }))

/** Mutually exclusive parameters. */
const rules = { mutuallyExclusive: [['author_id', 'author_username']] } as const

export const listParams = Params(
  {
    ...matching,
    state: OneOf([...epicStates, 'all'], { default: 'all', description: 'State of the epics' }),
    confidential: Optional(Flag({ description: 'Only confidential epics, or only others' })),
    created_after: when('Created at or after this time'),
    created_before: when('Created at or before this time'),
    updated_after: when('Updated at or after this time'),
    updated_before: when('Updated at or before this time'),
    include_ancestor_groups: Flag({ default: false, description: 'Include epics of the groups above' }),
    include_descendant_groups: Flag({ default: true, description: 'Include epics of subgroups' }),
    not: Optional(Params(matching, { ...rules, description: 'Leave out the epics that match any of these filters' })),
    order_by: OneOf(epicOrders, { default: 'created_at', description: 'What to order by' }),
    sort: viewParams.sort,
    with_labels_details: viewParams.with_labels_details,
  },
  rules,
)

/** The parsed parameters. */
export type ListInput = ParamsOf<typeof listParams>

export const orderOf = ({ order_by: by, sort }: ListInput): EpicOrder => ({ by, sort })

const matchingOf = (input: NonNullable<ListInput['not']>, plan: Plan): EpicMatching => matchingFiltersOf(input, plan)

/** The filters that the parameters request. */
export const filtersOf = (input: ListInput, plan: Plan): EpicFilters => ({
  ...matchingOf(input, plan),
  ...given<Omit<EpicFilters, keyof EpicMatching>>({
    state: input.state === 'all' ? undefined : input.state,
    confidential: input.confidential,
    createdAfter: input.created_after,
    createdBefore: input.created_before,
    updatedAfter: input.updated_after,
    updatedBefore: input.updated_before,
    not: input.not && matchingOf(input.not, plan),
  }),
})
