import { ParameterError } from '../../../api/params/parameter-error.ts'
import { CommaList, Flag, Id, List, OneOf, Optional, Text, Timestamp, WholeOr } from '../../../api/params/types.ts'
import { type Plan, planOffers } from '../../../kernel/plan.ts'
import { usualName } from '../../../markdown/emoji.ts'
import { render_html } from '../rendered-texts/rendered.ts'
import type { MatchingFilters, NoteableFilters, Presence, UserFilter } from './filters.ts'

/** Maximum labels and usernames in one filter. */
const maxNamed = 100

export const presences = ['None', 'Any'] as const
const scopes = ['created_by_me', 'assigned_to_me', 'all', 'created-by-me', 'assigned-to-me'] as const
const searchColumns = ['title', 'description'] as const

const when = (description: string) => Optional(Timestamp({ description }))

/** Parameters that can also be negated. */
export const matchingParams = {
  labels: Optional(
    CommaList(Text(), { maxItems: maxNamed, description: 'Label titles, all of which must match; or None, Any' }),
  ),
  milestone: Optional(Text({ description: 'Milestone title, or None, Any, #upcoming, #started' })),
  author_id: Optional(
    WholeOr(['None'], { description: 'Only of this author (user ID); `None` for those without one' }),
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
  my_reaction_emoji: Optional(Text({ description: 'Emoji that the caller awarded, or None, Any' })),
  search: Optional(Text({ description: 'Search terms in the title or description' })),
}

/** Parameters of lists of every kind of noteable, with the default scope of the list. */
export const noteableParams = (scope: 'created_by_me' | 'all') => ({
  scope: OneOf(scopes, { default: scope, description: 'Only those created by or assigned to the caller, or all' }),
  ...matchingParams,
  created_after: when('Created at or after this time'),
  created_before: when('Created at or before this time'),
  updated_after: when('Updated at or after this time'),
  updated_before: when('Updated at or before this time'),
})

/** Names of the columns in which `search` looks, separated by commas. */
export const searchedFields = Optional(
  Text({
    known: ['title', 'description', 'title,description', 'description,title'],
    description: 'Fields to search; default: both. Other words are ignored',
  }),
)

export const numbers = Optional(List(Id(), { description: 'Numbers within the project' }))

/** The way lists of every kind are shown. */
export const viewParams = {
  sort: OneOf(['asc', 'desc'], { default: 'desc', description: 'Sort direction: ascending or descending' }),
  with_labels_details: Flag({ default: false, description: 'Return labels as records' }),
  render_html,
}

/** Mutually exclusive parameters, in every list. */
export const exclusiveUsers = [
  ['author_id', 'author_username'],
  ['assignee_id', 'assignee_username'],
] as const

/** The parsed parameters that can also be negated. */
type MatchingInput = {
  readonly labels?: readonly string[]
  readonly milestone?: string
  readonly author_id?: number | 'None'
  readonly author_username?: string
  readonly assignee_id?: number | Presence
  readonly assignee_username?: readonly string[]
  readonly my_reaction_emoji?: string
  readonly search?: string
  readonly in?: string
  readonly iids?: readonly number[]
}

type NoteableInput = MatchingInput & {
  readonly scope: (typeof scopes)[number]
  readonly created_after?: Date
  readonly created_before?: Date
  readonly updated_after?: Date
  readonly updated_before?: Date
}

/** Matches a word case-insensitively. */
function presenceOf(text: string, noun: string): Presence | undefined {
  const words: Record<string, Presence> = { none: 'None', any: 'Any', [`no ${noun}`]: 'None', [`any ${noun}`]: 'Any' }
  const word = text.toLowerCase().replaceAll('+', ' ')
  return Object.hasOwn(words, word) ? words[word] : undefined
}

function milestoneOf(text: string): NonNullable<MatchingFilters['milestone']> {
  if (text === '#upcoming' || text === '#started') return text.slice(1) as 'upcoming' | 'started'
  return presenceOf(text, 'milestone') ?? { title: text }
}

/** Each title once: case does not distinguish them. */
const labelsOf = (titles: readonly string[]): NonNullable<MatchingFilters['labels']> =>
  (titles.length === 1 ? presenceOf(titles[0]!, 'label') : undefined) ?? [
    ...new Map(titles.map((title) => [title.toLowerCase(), title])).values(),
  ]

/** The user with this id; 0 stands for None. */
export function idOrPresence(id: number | Presence | undefined): Presence | { readonly id: number } | undefined {
  if (id === undefined || typeof id === 'string') return id
  return id === 0 ? 'None' : { id }
}

function assigneeOf(
  { assignee_id: id, assignee_username: usernames }: MatchingInput,
  plan: Plan,
): UserFilter | undefined {
  if (usernames && usernames.length > 1 && !planOffers(plan, 'starter'))
    throw new ParameterError(
      `assignee_username allows one value, but found ${usernames.length}: ${usernames.slice(0, 10).join(', ')}`,
    )
  return usernames ? { usernames } : idOrPresence(id)
}

function authorOf({ author_id: id, author_username: username }: MatchingInput): MatchingFilters['author'] {
  if (username !== undefined) return { username }
  return id === undefined || typeof id === 'string' ? id : { id }
}

function searchOf({ search: text, in: wanted = '' }: MatchingInput): MatchingFilters['search'] {
  if (text === undefined) return undefined
  const words = wanted.split(',').map((word) => word.trim())
  const columns = searchColumns.filter((column) => words.includes(column))
  return { text, in: columns.length > 0 ? columns : searchColumns }
}

type Given<T> = { readonly [K in keyof T]: T[K] | undefined }

/** Without those that are not given. */
export const given = <T extends object>(filters: Given<T>): T =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined)) as T

export function matchingFiltersOf(input: MatchingInput, plan: Plan): MatchingFilters {
  const reaction = input.my_reaction_emoji
  return given<MatchingFilters>({
    labels: input.labels?.length ? labelsOf(input.labels) : undefined,
    milestone: input.milestone ? milestoneOf(input.milestone) : undefined,
    author: authorOf(input),
    assignee: assigneeOf(input, plan),
    reaction: reaction ? (presenceOf(reaction, 'emoji') ?? { name: usualName(reaction) }) : undefined,
    search: searchOf(input),
    iids: input.iids,
  })
}

/** The filters that the parameters of a list request. */
export function noteableFiltersOf(input: NoteableInput, plan: Plan): Omit<NoteableFilters, 'state'> {
  const scope = input.scope.replaceAll('-', '_') as 'created_by_me' | 'assigned_to_me' | 'all'
  return {
    ...given<Omit<NoteableFilters, keyof MatchingFilters | 'state'>>({
      scope: scope === 'all' ? undefined : scope,
      createdAfter: input.created_after,
      createdBefore: input.created_before,
      updatedAfter: input.updated_after,
      updatedBefore: input.updated_before,
    }),
    ...matchingFiltersOf(input, plan),
  }
}
