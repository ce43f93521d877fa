import { randomUUID } from 'node:crypto'
import { mergeRequestPolicy } from '../../../access/merge-request-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { forbidden, invalid, notFound } from '../../../kernel/failure.ts'
import { asAccounts, signatureOfOther } from '../../accounts/index.ts'
import type { AppliedSuggestion } from '../../discussion/index.ts'
import { loadProject, openRepository, type ProjectSubject } from '../../projects/index.ts'
import { type CommitRequest, createCommit } from '../../repository/index.ts'
import type { MergeRequestSubject } from '../merge-requests/subject.ts'
import { readBranch } from '../merging/heads.ts'
import { syncWithBranches } from '../merging/update.ts'
import { followTo } from '../suggested-lines/follow.ts'
import { intendCommit, type SuggestionCommit } from '../suggestion-commits/queries.ts'
import { recordApplied } from '../suggestion-commits/record.ts'
import { recordArrived, settleAttempt } from '../suggestion-commits/settle.ts'
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
  await commitAndRecord(ctx, subject, {
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
  // The next suggestion is for lines of the new head. The job after the push does the same.
  await syncWithBranches(ctx, mergeRequest.id).catch((err) => {
    ctx.log.warn({ err, merge_request_id: mergeRequest.id }, 'failed to follow an applied suggestion')
  })
}

/** Commits suggestions and marks them as applied. What it applies is stored before the branch moves. */
async function commitAndRecord(
  ctx: Ctx,
  { suggestions, mergeRequest, facts }: SuggestionsSubject,
  request: CommitRequest,
): Promise<void> {
  const token = randomUUID()
  const applying = (commit: Oid): SuggestionCommit => ({
    token,
    merge_request_id: mergeRequest.id,
    commit_oid: commit,
    suggestion_ids: suggestions.map(({ id }) => id),
    user_id: ctx.actor!.id,
    resolves: allows(mergeRequestPolicy.resolve_discussion, ctx.actor, facts),
  })
  try {
    const { oid } = await createCommit(ctx, { ...request, intend: (commit) => intendCommit(ctx.db, applying(commit)) })
    await recordApplied(ctx, applying(oid))
  } catch (error) {
    // The branch may have moved all the same.
    if (!(await settleAttempt(ctx, token))) throw error
  }
}

/** The suggestions after the merge request has followed its source branch, and what a crash interrupted is marked as applied. */
async function upToDate(ctx: Ctx, source: ProjectSubject, subject: SuggestionsSubject): Promise<SuggestionsSubject> {
  const { id, source_branch, head_oid } = subject.mergeRequest
  const repo = openRepository(ctx, source)
  const head = await readBranch(repo, source_branch)
  const hasRecorded = await recordArrived(ctx, id, repo, head)
  if (!hasRecorded && head === (head_oid ?? undefined)) return subject
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
