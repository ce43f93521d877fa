import { ParameterError } from '../../../api/params/parameter-error.ts'
import type { ParamsOf } from '../../../api/params/params-of.ts'
import {
  CommaList,
  Flag,
  Id,
  List,
  ListOr,
  OneOf,
  Optional,
  Params,
  Text,
  Timestamp,
  WholeOr,
} from '../../../api/params/types.ts'
import { type Plan, planOffers } from '../../../kernel/plan.ts'
import { mergeRequestStates } from '../merge-requests/states.ts'
import { type MergeRequestFilters, type MergeRequestOrder, mergeRequestOrders, type Presence } from './list-queries.ts'

const maxApprovedBy = 5
const maxNamed = 100
const presences = ['None', 'Any'] as const

const when = (description: string) => Optional(Timestamp({ description }))
const scopes = ['created_by_me', 'assigned_to_me', 'all', 'created-by-me', 'assigned-to-me'] as const

/** Parameters of every list of merge requests, with the default scope of the list. */
export const listParams = (scope: 'created_by_me' | 'all') => ({
  state: OneOf([...mergeRequestStates, 'all'], { default: 'all', description: 'State of the merge requests' }),
  scope: OneOf(scopes, {
    default: scope,
    description: 'Whose merge requests: created by or assigned to the caller, or all',
  }),
  order_by: OneOf(mergeRequestOrders, { default: 'created_at', description: 'Time to order by' }),
  sort: OneOf(['asc', 'desc'], { default: 'desc', description: 'Sort direction: ascending or descending' }),
  view: Optional(OneOf(['simple'], { description: 'Return simple records' })),
  milestone: Optional(Text({ description: 'Milestone title, or None, Any, #upcoming, #started' })),
  labels: Optional(
    CommaList(Text(), { maxItems: maxNamed, description: 'Label titles, all of which must match; or None, Any' }),
  ),
  with_labels_details: Flag({ default: false, description: 'Return labels as records' }),
  include_diverged_commits_count: Flag({
    default: false,
    description: 'Include `diverged_commits_count` in the record',
  }),
  created_after: when('Created at or after this time'),
  created_before: when('Created at or before this time'),
  updated_after: when('Updated at or after this time'),
  updated_before: when('Updated at or before this time'),
  author_id: Optional(
    WholeOr(['None'], { description: 'Only of this author (user ID); `None` for merge requests without one' }),
  ),
  author_username: Optional(Text({ description: 'Only of the author with this username' })),
  assignee_id: Optional(WholeOr(presences, { description: 'Assignee user ID, or None, Any' })),
  assignee_username: Optional(
    List(Text(), {
      single: true,
      maxItems: maxNamed,
      description: 'Usernames of assignees; only one below the starter plan',
    }),
  ),
  reviewer_id: Optional(WholeOr(presences, { description: 'Reviewer user ID, or None, Any' })),
  reviewer_username: Optional(Text({ description: 'Username of a reviewer' })),
  approver_ids: Optional(
    ListOr(Id(), presences, {
      tier: 'starter',
      description: 'User IDs of designated approvers, at most 5; or None, Any',
    }),
  ),
  approved_by_ids: Optional(
    ListOr(Id(), presences, { tier: 'starter', description: 'User IDs of approvers, at most 5; or None, Any' }),
  ),
  my_reaction_emoji: Optional(Text({ description: 'Emoji that the caller awarded, or None, Any' })),
  source_branch: Optional(Text({ description: 'Only with this source branch' })),
  target_branch: Optional(Text({ description: 'Only with this target branch' })),
  source_project_id: Optional(Id({ description: 'ID of the project of the source branch' })),
  search: Optional(Text({ description: 'Search terms in the title or description' })),
})

const draftFilters = {
  wip: Optional(OneOf(['yes', 'no'], { description: 'Only drafts (yes) or none (no)' })),
  draft: Optional(Flag({ description: 'Only drafts, or only others' })),
}

/** Mutually exclusive parameters, in every list. */
export const listRules = {
  mutuallyExclusive: [
    ['author_id', 'author_username'],
    ['assignee_id', 'assignee_username'],
    ['reviewer_id', 'reviewer_username'],
  ],
} satisfies Parameters<typeof Params<ReturnType<typeof listParams>>>[1]

export const allParams = Params(
  {
    ...listParams('created_by_me'),
    in: Optional(
      OneOf(['title', 'description', 'title,description', 'description,title'], {
        description: 'Fields that `search` searches; default: both',
      }),
    ),
    ...draftFilters,
  },
  { mutuallyExclusive: [...listRules.mutuallyExclusive, ['wip', 'draft']] },
)

export const projectParams = Params(
  {
    ...listParams('all'),
    iids: Optional(List(Id(), { description: 'Numbers within the project' })),
    ...draftFilters,
  },
  { mutuallyExclusive: [...listRules.mutuallyExclusive, ['wip', 'draft']] },
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

/** Matches a word case-insensitively. */
function presenceOf(text: string, noun: string): Presence | undefined {
  const words: Record<string, Presence> = { none: 'None', any: 'Any', [`no ${noun}`]: 'None', [`any ${noun}`]: 'Any' }
  const word = text.toLowerCase().replaceAll('+', ' ')
  return Object.hasOwn(words, word) ? words[word] : undefined
}

function milestoneOf(text: string): NonNullable<MergeRequestFilters['milestone']> {
  if (text === '#upcoming' || text === '#started') return text.slice(1) as 'upcoming' | 'started'
  return presenceOf(text, 'milestone') ?? { title: text }
}

const labelsOf = (titles: readonly string[]): NonNullable<MergeRequestFilters['labels']> =>
  (titles.length === 1 ? presenceOf(titles[0]!, 'label') : undefined) ?? titles

/** The user with this id; 0 stands for None. */
function idOrPresence(id: number | Presence | undefined): Presence | { readonly id: number } | undefined {
  if (id === undefined || typeof id === 'string') return id
  return id === 0 ? 'None' : { id }
}

function assigneeOf({ assignee_id: id, assignee_username: usernames }: ListInput, plan: Plan) {
  if (usernames && usernames.length > 1 && !planOffers(plan, 'starter'))
    throw new ParameterError(
      `assignee_username allows one value, but found ${usernames.length}: ${usernames.slice(0, 10).join(', ')}`,
    )
  return usernames ? { usernames } : idOrPresence(id)
}

const reviewerOf = ({ reviewer_id: id, reviewer_username: username }: ListInput) =>
  username === undefined ? idOrPresence(id) : { usernames: [username] }

function authorOf({ author_id: id, author_username: username }: ListInput) {
  if (username !== undefined) return { username }
  return id === undefined || typeof id === 'string' ? id : { id }
}

function approvedByOf(ids: ListInput['approved_by_ids']) {
  if (Array.isArray(ids) && ids.length > maxApprovedBy)
    throw new ParameterError(`approved_by_ids allows ${maxApprovedBy} values at most, but found ${ids.length}`)
  return ids
}

const searchColumns = ['title', 'description'] as const

function searchOf({ search: text, in: wanted }: ListInput) {
  if (text === undefined) return undefined
  return { text, in: searchColumns.filter((column) => wanted?.split(',').includes(column) ?? true) }
}

/** The filters that the parameters of a list request. */
export function filtersOf(input: ListInput, plan: Plan): MergeRequestFilters {
  const scope = input.scope.replaceAll('-', '_') as 'created_by_me' | 'assigned_to_me' | 'all'
  const reaction = input.my_reaction_emoji
  const filters = {
    state: input.state === 'all' ? undefined : input.state,
    scope: scope === 'all' ? undefined : scope,
    labels: input.labels?.length ? labelsOf(input.labels) : undefined,
    milestone: input.milestone ? milestoneOf(input.milestone) : undefined,
    author: authorOf(input),
    assignee: assigneeOf(input, plan),
    reviewer: reviewerOf(input),
    approvers: input.approver_ids,
    approvedBy: approvedByOf(input.approved_by_ids),
    reaction: reaction ? (presenceOf(reaction, 'emoji') ?? { name: reaction }) : undefined,
    sourceBranch: input.source_branch,
    targetBranch: input.target_branch,
    sourceProjectId: input.source_project_id,
    search: searchOf(input),
    draft: input.draft ?? (input.wip && input.wip === 'yes'),
    iids: input.iids,
    ids: input.ids,
    createdAfter: input.created_after,
    createdBefore: input.created_before,
    updatedAfter: input.updated_after,
    updatedBefore: input.updated_before,
  }
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
}
