import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import type { Facts } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { subject } from '../../../api/endpoint.ts'
import { Id, Params } from '../../../api/params/types.ts'
import { invalid } from '../../../kernel/failure.ts'
import { type AppliedSuggestion, findSuggestions } from '../../discussion/index.ts'
import { loadMergeRequest, type MergeRequestSubject } from '../merge-requests/subject.ts'
import { readablePlaces } from './queries.ts'

/** Suggestions of one merge request, by id. */
export type SuggestionsSubject = {
  readonly suggestions: readonly AppliedSuggestion[]
  readonly mergeRequest: MergeRequestSubject
  readonly facts: Facts
}

/**
 * The suggestions of these ids; undefined unless all exist and the caller may read their merge requests. Throws if these are several.
 * Four statements.
 */
export async function loadSuggestions(ctx: Ctx, ids: readonly number[]): Promise<SuggestionsSubject | undefined> {
  const suggestions = await findSuggestions(ctx.db, ids)
  const about = new Set(suggestions.map(({ merge_request_id }) => merge_request_id))
  const places = await readablePlaces(ctx.db, ctx.actor, [...about])
  if (suggestions.length < new Set(ids).size || places.length < about.size) return undefined
  const [place, ...others] = places
  if (others.length > 0) throw invalid('Suggestions must all be on the same branch.')
  const mergeRequest =
    place && (await loadMergeRequest({ id: String(place.project_id), merge_request_iid: place.iid }, ctx))
  return mergeRequest && { suggestions, mergeRequest, facts: mergeRequest.facts }
}

/** A suggestion by its id. */
export const suggestion = subject({
  what: 'Suggestion',
  params: Params({ id: Id({ description: 'ID of the suggestion' }) }),
  policy: mergeRequestPolicy,
  visible: 'read_merge_request',
  load: ({ id }, ctx): Promise<SuggestionsSubject | undefined> => loadSuggestions(ctx, [id]),
})
