import type { Ctx } from '../../../api/ctx.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import type { NewSignature } from '../../../git/objects/objects.ts'
import { actorOf, callerSignature, findAccounts, signatureOfOther } from '../../accounts/index.ts'
import { findApprovals } from '../approvals/queries.ts'
import { fillTemplate, inLine, namesIn, personInLine, trailers } from '../commit-messages/template.ts'
import { bodyOf, closes, firstWithBody, isMerge, squashMessage } from './messages.ts'
import type { MergingRow } from './queries.ts'

type Person = Pick<NewSignature, 'name' | 'email'>

/** Placeholders for which the commits of the source are read. */
const ofCommits = [
  'first_commit',
  'first_multiline_commit',
  'first_multiline_commit_description',
  'all_commits',
  'co_authored_by',
] as const

/**
 * The message of a merge or squash commit from a template of the project; empty if nothing is left of it. Reads only what the template
 * names. `author`: of the commit; it is no co-author.
 */
export async function templatedMessage(
  ctx: Ctx,
  row: MergingRow,
  template: string,
  { author, commits }: { readonly author: Person; readonly commits: () => Promise<readonly Commit[]> },
): Promise<string> {
  const names = namesIn(template)
  return fillTemplate(template, {
    ...ofMergeRequest(ctx, row),
    merged_by: personInLine(callerSignature(ctx)),
    ...((names.has('description') || names.has('approved_by')) && (await ofReview(ctx, row))),
    ...(names.has('merge_request_author') && {
      merge_request_author: (await signaturesOf(ctx, [row.author_id])).map(personInLine).join(''),
    }),
    ...(ofCommits.some((name) => names.has(name)) && partsOf(row, await commits(), author)),
  })
}

function ofMergeRequest({ site }: Ctx, row: MergingRow) {
  const { full_path } = row.target
  return {
    source_branch: row.source_branch,
    target_branch: row.target_branch,
    title: inLine(row.title),
    issues: closes(row),
    reference: `${full_path}!${row.iid}`,
    local_reference: `!${row.iid}`,
    source_project_id: String(row.source_project_id ?? ''),
    url: `${site.url}/${full_path}/-/merge_requests/${row.iid}`,
  }
}

async function ofReview(ctx: Ctx, { id }: MergingRow) {
  const found = await findApprovals(ctx.db, id)
  const approvers = await signaturesOf(
    ctx,
    (found?.approved_by ?? []).map((user) => user.id),
  )
  return { description: found?.description ?? '', approved_by: trailers('Approved-by', approvers) }
}

function partsOf(row: MergingRow, commits: readonly Commit[], author: Person) {
  const written = commits.filter((commit) => !isMerge(commit))
  const authors = new Map(written.map((commit) => [commit.author.email, commit.author]))
  authors.delete(author.email)
  const multiline = firstWithBody(commits)
  return {
    first_commit: commits[0]?.message.trimEnd() ?? '',
    first_multiline_commit: squashMessage(row, commits),
    first_multiline_commit_description: multiline ? bodyOf(multiline) : '',
    all_commits: written.map(({ message }) => `* ${message.trim()}`).join('\n\n'),
    co_authored_by: trailers('Co-authored-by', [...authors.values()]),
  }
}

/** In the order of the ids, whether or not these users can still act. */
async function signaturesOf(ctx: Ctx, userIds: readonly number[]): Promise<Person[]> {
  const accounts = new Map((await findAccounts(ctx.db, userIds)).map((account) => [account.user_id, account]))
  return userIds.flatMap((id) => {
    const account = accounts.get(id)
    return account ? [signatureOfOther({ ...ctx, actor: actorOf(account) })] : []
  })
}
