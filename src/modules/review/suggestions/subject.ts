import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import { allows, type Facts } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { subject } from '../../../api/endpoint.ts'
import { Id, Params } from '../../../api/params/types.ts'
import { type AppliedSuggestion, findSuggestions } from '../../discussion/index.ts'
import { loadProject } from '../../projects/index.ts'
import { findMergeRequest } from '../merge-requests/queries.ts'
import { type MergeRequestSubject, mergeRequestFacts } from '../merge-requests/subject.ts'
import { placesOf } from './queries.ts'

/** A suggestion with its merge request. */
export type SuggestionSubject = {
  readonly suggestion: AppliedSuggestion
  readonly mergeRequest: MergeRequestSubject
  readonly facts: Facts
}

/**
 * Those of the suggestions whose merge request the caller may read, by id. Two statements, and two for each merge request.
 */
export async function loadSuggestions(ctx: Ctx, ids: readonly number[]): Promise<SuggestionSubject[]> {
  const found = await findSuggestions(ctx.db, ids)
  const places = await placesOf(ctx.db, [...new Set(found.map(({ merge_request_id }) => merge_request_id))])
  const readable = new Map<number, MergeRequestSubject>()
  for (const { id, project_id, iid } of places) {
    const project = await loadProject(String(project_id), ctx)
    const row = project && (await findMergeRequest(ctx.db, ctx.actor, project.id, iid))
    if (!project || !row) continue
    const facts = mergeRequestFacts(row, project)
    const isReadable =
      allows(mergeRequestPolicy.read_project, ctx.actor, facts) &&
      allows(mergeRequestPolicy.read_merge_request, ctx.actor, facts)
    if (isReadable) readable.set(id, { ...row, project, facts })
  }
  return found.flatMap((suggestion) => {
    const mergeRequest = readable.get(suggestion.merge_request_id)
    return mergeRequest ? [{ suggestion, mergeRequest, facts: mergeRequest.facts }] : []
  })
}

/** A suggestion by its id. */
export const suggestion = subject({
  what: 'Suggestion',
  params: Params({ id: Id({ description: 'ID of the suggestion' }) }),
  policy: mergeRequestPolicy,
  visible: 'read_merge_request',
  load: async ({ id }, ctx): Promise<SuggestionSubject | undefined> => (await loadSuggestions(ctx, [id]))[0],
})
