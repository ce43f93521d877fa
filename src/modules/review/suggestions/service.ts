import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { forbidden, invalid, notFound, rowNotFound } from '../../../kernel/failure.ts'
import { asAccounts, signatureOfOther } from '../../accounts/index.ts'
import { type AppliedSuggestion, resolveHeld, saveApplied } from '../../discussion/index.ts'
import { loadProject, openRepository, type ProjectSubject } from '../../projects/index.ts'
import { createCommit } from '../../repository/index.ts'
import { asNoteable } from '../merge-requests/noteable.ts'
import { touchMergeRequest } from '../merge-requests/queries.ts'
import type { MergeRequestSubject } from '../merge-requests/subject.ts'
import { readBranch } from '../merging/heads.ts'
import { syncWithBranches } from '../merging/update.ts'
import { followTo } from '../suggested-lines/follow.ts'
import { applyTo, changed, requireApart } from './edit.ts'
import { suggestionMessage } from './message.ts'
import { messageTemplate } from './queries.ts'
import { loadSuggestions, type SuggestionsSubject } from './subject.ts'

/** Applies suggestions that the caller named by id: all of them, or none. */
export async function applyBatch(ctx: Ctx, ids: readonly number[], message: string | undefined): Promise<void> {
  await applySuggestions(ctx, await permitted(ctx, ids), message)
}

/** The suggestions of these ids, of one merge request. Throws unless the caller may apply all of them. */
async function permitted(ctx: Ctx, ids: readonly number[]): Promise<SuggestionsSubject> {
  const found = await loadSuggestions(ctx, ids)
  if (!found) throw notFound('Suggestion')
  if (!allows(mergeRequestPolicy.apply_suggestion, ctx.actor, found.facts)) throw forbidden()
  return found
}

/**
 * Commits suggestions of one merge request on its source branch, as one commit, and resolves their discussions if the caller may. Who may
 * push to the branch is decided when it moves; so is whether the files are still those that the merge request shows.
 */
export async function applySuggestions(
  ctx: Ctx,
  given: SuggestionsSubject,
  message: string | undefined,
): Promise<void> {
  const source = await sourceOf(ctx, given.mergeRequest)
  const subject = await upToDate(ctx, source, given)
  const { mergeRequest } = subject
  const suggestions = await inHead(ctx, subject)
  requireAppliable(mergeRequest, suggestions)
  const files = Map.groupBy(suggestions, ({ position }) => position.new_path)
  for (const each of files.values()) requireApart(each)
  const { author, coAuthors } = await authorsOf(ctx, suggestions)
  const commit = await createCommit(ctx, {
    project: source,
    branch: mergeRequest.source_branch,
    start: {},
    ...(mergeRequest.head_oid && { seen: mergeRequest.head_oid }),
    actions: [...files].map(([file_path, each]) => ({
      action: 'update',
      file_path,
      rewrite: (content) => applyTo(content, each),
    })),
    message: suggestionMessage(message?.trim() || (await messageTemplate(ctx.db, mergeRequest.project_id)), {
      branch_name: mergeRequest.source_branch,
      file_paths: [...files.keys()],
      project_name: mergeRequest.project.name,
      project_path: mergeRequest.project.full_path,
      suggestions_count: suggestions.length,
      user_full_name: ctx.actor!.name,
      username: ctx.actor!.username,
      co_authors: coAuthors,
    }),
    author,
    refusal: 'forbidden',
    stale: () => '',
  })
  await recordApplied(ctx, mergeRequest, suggestions, commit.oid)
  // The next suggestion is for lines of the new head. The job after the push does the same.
  await syncWithBranches(ctx, mergeRequest.id).catch((err) => {
    ctx.log.warn({ err, merge_request_id: mergeRequest.id }, 'failed to follow an applied suggestion')
  })
}

/** The suggestions after the merge request has followed its source branch. */
async function upToDate(ctx: Ctx, source: ProjectSubject, subject: SuggestionsSubject): Promise<SuggestionsSubject> {
  const { id, source_branch, head_oid } = subject.mergeRequest
  if ((await readBranch(openRepository(ctx, source), source_branch)) === (head_oid ?? undefined)) return subject
  await syncWithBranches(ctx, id)
  return permitted(
    ctx,
    subject.suggestions.map((suggestion) => suggestion.id),
  )
}

/** The suggestions with their lines in the head of the merge request. What is stored may be of an earlier one, and is shown only. */
async function inHead(ctx: Ctx, { suggestions, mergeRequest }: SuggestionsSubject): Promise<AppliedSuggestion[]> {
  const { project, head_oid } = mergeRequest
  const follows = await followTo(ctx, openRepository(ctx, project), suggestions, head_oid)
  return suggestions.map((each, index) => ({ ...each, ...follows[index]! }))
}

function requireAppliable(mergeRequest: MergeRequestSubject, suggestions: readonly AppliedSuggestion[]): void {
  if (mergeRequest.state !== 'opened')
    throw invalid("Can't apply suggestions of a merge request that is not open. Edit the file instead.")
  if (suggestions.some(({ applied }) => applied)) throw invalid("Can't apply this suggestion: it was applied before.")
  if (suggestions.some(({ outdated }) => outdated)) throw changed()
}

async function sourceOf(ctx: Ctx, { source_project_id }: MergeRequestSubject): Promise<ProjectSubject> {
  if (source_project_id === null) throw invalid("Can't apply as the source branch was deleted.")
  const project = await loadProject(String(source_project_id), ctx)
  if (!project) throw forbidden('Cannot push to source branch')
  return project
}

type Person = { readonly name: string; readonly email: string }

/** The author of the commit, who is the one of all suggestions, or else the caller; and other authors. */
async function authorsOf(
  ctx: Ctx,
  suggestions: readonly AppliedSuggestion[],
): Promise<{ readonly author: Partial<Person>; readonly coAuthors: Person[] }> {
  const ids = new Set(suggestions.map(({ author_id }) => author_id))
  const isOwn = ids.delete(ctx.actor!.id)
  const others = [...(await asAccounts(ctx, [...ids])).values()].map((each) => signatureOfOther(each))
  const [first] = others
  return first && ids.size === 1 && !isOwn ? { author: first, coAuthors: [] } : { author: {}, coAuthors: others }
}

async function recordApplied(
  ctx: Ctx,
  mergeRequest: MergeRequestSubject,
  suggestions: readonly AppliedSuggestion[],
  commit: Oid,
): Promise<void> {
  const { id, iid, project_id, facts } = mergeRequest
  const actorId = ctx.actor!.id
  const mayResolve = allows(mergeRequestPolicy.resolve_discussion, ctx.actor, facts)
  const discussions = new Set(suggestions.map(({ discussion_id }) => discussion_id))
  await ctx.transaction(async (tx) => {
    if (!(await touchMergeRequest(tx, id))) throw rowNotFound()
    await saveApplied(
      tx,
      suggestions.map((each) => each.id),
      commit,
    )
    for (const each of suggestions)
      await emit(tx, {
        kind: 'suggestion_applied',
        projectId: project_id,
        actorId,
        payload: { merge_request_id: id, iid, suggestion_id: each.id, note_id: each.note_id, commit },
      })
    if (mayResolve)
      for (const discussionId of discussions)
        await resolveHeld(tx, { ...asNoteable(mergeRequest), iid }, { discussionId }, actorId)
  })
}
