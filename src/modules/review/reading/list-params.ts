import { ParameterError } from '../../../api/params/parameter-error.ts'
import type { ParamsOf } from '../../../api/params/params-of.ts'
import { Flag, Id, ListOr, OneOf, Optional, Params, Text, WholeOr } from '../../../api/params/types.ts'
import type { Plan } from '../../../kernel/plan.ts'
import {
  exclusiveUsers,
  given,
  idOrPresence,
  noteableFiltersOf,
  noteableParams,
  numbers,
  presences,
  searchedFields,
  viewParams,
} from '../../planning/index.ts'
import { mergeRequestStates } from '../merge-requests/states.ts'
import { type MergeRequestFilters, type MergeRequestOrder, mergeRequestOrders } from './list-queries.ts'

const maxApprovedBy = 5

/** Parameters of every list of merge requests, with the default scope of the list. */
export const listParams = (scope: 'created_by_me' | 'all') => ({
  state: OneOf([...mergeRequestStates, 'all'], { default: 'all', description: 'State of the merge requests' }),
  order_by: OneOf(mergeRequestOrders, { default: 'created_at', description: 'Time to order by' }),
  ...viewParams,
  view: Optional(OneOf(['simple'], { description: 'Return simple records' })),
  include_diverged_commits_count: Flag({
    default: false,
    description: 'Include `diverged_commits_count` in the record',
  }),
  ...noteableParams(scope),
  reviewer_id: Optional(WholeOr(presences, { description: 'Reviewer user ID, or None, Any' })),
  reviewer_username: Optional(Text({ description: 'Username of a reviewer' })),
  approver_ids: Optional(
    ListOr(Id(), presences, {
      tier: 'starter',
      description: 'User IDs of approvers whom the merge request or a rule that applies to it names; or None, Any',
    }),
  ),
  approved_by_ids: Optional(
    ListOr(Id(), presences, { tier: 'starter', description: 'User IDs of approvers, at most 5; or None, Any' }),
  ),
  source_branch: Optional(Text({ description: 'Only with this source branch' })),
  target_branch: Optional(Text({ description: 'Only with this target branch' })),
  source_project_id: Optional(Id({ description: 'ID of the project of the source branch' })),
})

const draftFilters = {
  wip: Optional(OneOf(['yes', 'no'], { description: 'Only drafts (yes) or none (no)' })),
  draft: Optional(Flag({ description: 'Only drafts, or only others' })),
}

/** Mutually exclusive parameters, in every list. */
const exclusive = [...exclusiveUsers, ['reviewer_id', 'reviewer_username']] as const

/** Rules of the parameters of every list. */
export const listRules = { mutuallyExclusive: exclusive }

export const allParams = Params(
  { ...listParams('created_by_me'), in: searchedFields, ...draftFilters },
  { mutuallyExclusive: [...exclusive, ['wip', 'draft']] },
)

export const projectParams = Params(
  { ...listParams('all'), iids: numbers, ...draftFilters },
  { mutuallyExclusive: [...exclusive, ['wip', 'draft']] },
)

export const groupParams = Params(
  {
    ...listParams('all'),
    non_archived: Flag({ default: true, description: 'Exclude merge requests of archived projects' }),
  },
  listRules,
)

/** The parsed parameters of any list. */
export type ListInput = ParamsOf<typeof allParams> &
  Partial<Pick<ParamsOf<typeof projectParams>, 'iids'>> &
  Partial<Pick<ParamsOf<typeof groupParams>, 'non_archived'>> & {
    /** Only these, which the caller of the list has found. */
    readonly ids?: readonly number[]
  }

/** Sort orders of lists. */
export const orderOf = ({ order_by, sort }: Pick<ListInput, 'order_by' | 'sort'>): MergeRequestOrder => ({
  by: order_by,
  sort,
})

const reviewerOf = ({ reviewer_id: id, reviewer_username: username }: ListInput) =>
  username === undefined ? idOrPresence(id) : { usernames: [username] }

function approvedByOf(ids: ListInput['approved_by_ids']) {
  if (Array.isArray(ids) && ids.length > maxApprovedBy)
    throw new ParameterError(`approved_by_ids allows ${maxApprovedBy} values at most, but found ${ids.length}`)
  return ids
}

/** The filters that the parameters of a list request. */
export const filtersOf = (input: ListInput, plan: Plan): MergeRequestFilters => ({
  ...noteableFiltersOf(input, plan),
  ...given<Partial<MergeRequestFilters>>({
    state: input.state === 'all' ? undefined : input.state,
    reviewer: reviewerOf(input),
    approvers: input.approver_ids,
    approvedBy: approvedByOf(input.approved_by_ids),
    sourceBranch: input.source_branch,
    targetBranch: input.target_branch,
    sourceProjectId: input.source_project_id,
    draft: input.draft ?? (input.wip && input.wip === 'yes'),
    ids: input.ids,
  }),
})
