import { issuePolicy } from '../../../access/issue-policy.ts'
import { allows } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { readCommitsWithin } from '../../../git/objects/commits.ts'
import { asAccount } from '../../accounts/index.ts'
import {
  closingReferences,
  insertCrossReference,
  type NamedNoteable,
  type NamedRow,
  readableNamed,
  type Source,
  sourceName,
} from '../../discussion/index.ts'
import { closeIssue, loadIssue } from '../../planning/index.ts'
import { lockState, openRepository } from '../../projects/index.ts'
import { asNoteable } from '../merge-requests/noteable.ts'
import { commitIdsOf } from '../merge-requests/version-queries.ts'
import {
  type ClosingMergeRequest,
  closedByCommit,
  findClosingMergeRequest,
  replaceClosingIssues,
  takeTurnOfCommit,
  takeTurnOfMergeRequest,
} from './queries.ts'

/** Maximum commits of a merge request whose messages are searched; the newest ones. */
const maxCommits = 1000

/** Longer messages are read up to this total. */
const maxMessageCharacters = 4 * 1024 * 1024

/** Maximum issues that one merge request closes; further ones are ignored. */
const maxIssues = 100

/** What the description and the commits of a merge request say it closes. Its title, and so a merge commit, does not count. */
async function referencesOf(ctx: Ctx, row: ClosingMergeRequest): Promise<NamedNoteable[]> {
  const oids = (await commitIdsOf(ctx.db, row.diff_id)).slice(0, maxCommits)
  const wanted = row.squash_commit_oid ? [row.squash_commit_oid, ...oids] : oids
  const repo = openRepository(ctx, { ...row, id: row.project_id })
  const { commits } = await readCommitsWithin(repo, wanted, maxMessageCharacters)
  const named = [row.description ?? '', ...commits.map(({ message }) => message)].flatMap((text) =>
    closingReferences(text, ctx.site.url),
  )
  const distinct = new Map(named.map((each) => [`${each.path ?? ''} ${each.iid}`, each]))
  return [...distinct.values()].slice(0, maxIssues)
}

/** The issues that a text in a project may close, of those that the caller may read: not those of the source of a fork. */
async function closable(
  ctx: Ctx,
  named: readonly NamedNoteable[],
  { full_path, forked_from_project_id }: Pick<ClosingMergeRequest, 'full_path' | 'forked_from_project_id'>,
): Promise<NamedRow[]> {
  const rows = await readableNamed(ctx, 'Issue', named, { of: 'project', full_path })
  return rows.filter(({ holder }) => holder.id !== forked_from_project_id)
}

/** Stores which issues an unmerged merge request closes, of those that its author may read. */
export async function updateClosingIssues(ctx: Ctx, mergeRequestId: number): Promise<void> {
  const row = await findClosingMergeRequest(ctx.db, mergeRequestId)
  if (!row || row.state === 'merged') return
  const named = await referencesOf(ctx, row)
  if (named.length > 0 || row.stored) await store(ctx, row, named)
}

/** The ids of named issues, of those that the author of a merge request may read. */
async function idsForAuthor(ctx: Ctx, row: ClosingMergeRequest, named: readonly NamedNoteable[]): Promise<number[]> {
  const author = named.length > 0 ? await asAccount(ctx, row.author_id) : undefined
  return author ? (await closable(author, named, row)).map(({ id }) => id) : []
}

async function store(ctx: Ctx, row: ClosingMergeRequest, named: readonly NamedNoteable[]): Promise<void> {
  const ids = await idsForAuthor(ctx, row, named)
  await ctx.transaction((tx) => replaceClosingIssues(tx, row.id, ids))
}

/**
 * The issues that an unmerged merge request closes by its texts of now, of those that its author may read; the job that stores them
 * may be late. Undefined once it is merged: then the stored ones count.
 */
export async function findClosingIssueIds(ctx: Ctx, mergeRequestId: number): Promise<number[] | undefined> {
  const row = await findClosingMergeRequest(ctx.db, mergeRequestId)
  if (row?.state === 'merged') return undefined
  return row?.closes ? await idsForAuthor(ctx, row, await referencesOf(ctx, row)) : []
}

/**
 * Closes the issues that a merge request names, if it was merged into the default branch: those that the user who merged it may
 * change. Each issue has a transaction of its own, so that a repeat continues where the job was interrupted.
 */
export async function closeByMergeRequest(ctx: Ctx, mergeRequestId: number, userId: number): Promise<void> {
  const row = await findClosingMergeRequest(ctx.db, mergeRequestId)
  if (row?.state !== 'merged') return
  const named = row.closes ? await referencesOf(ctx, row) : []
  await store(ctx, row, named)
  const actor = named.length > 0 ? await asAccount(ctx, userId) : undefined
  if (!actor) return
  const from: Source = {
    place: { of: 'project', id: row.project_id, full_path: row.full_path },
    source: { noteable: asNoteable(row) },
    nameWithin: (path) => `merge request ${path}!${row.iid}`,
  }
  for (const issue of await closable(actor, named, row))
    await close(actor, issue, from, (tx) => takeTurnOfMergeRequest(tx, issue.id, row.id))
}

/** A commit that reached the default branch of a project. */
export type ClosingCommit = Source & {
  readonly oid: Oid
  readonly message: string
  /** The user who pushed it. */
  readonly userId: number
  readonly forked_from_project_id: number | null
}

/** Closes the issues that a commit names: those that the user may change. Resolves to the issues that it closed, now or before. */
export async function closeByCommit(ctx: Ctx, commit: ClosingCommit): Promise<ReadonlySet<number>> {
  const named = closingReferences(commit.message, ctx.site.url)
  const actor = named.length > 0 ? await asAccount(ctx, commit.userId) : undefined
  if (!actor) return new Set()
  const { place, forked_from_project_id } = commit
  const issues = await closable(actor, named, { full_path: place.full_path, forked_from_project_id })
  for (const issue of issues) await close(actor, issue, commit, (tx) => takeTurnOfCommit(tx, issue.id, commit.oid))
  const ids = issues.map(({ id }) => id)
  return new Set(await closedByCommit(ctx.db, place.id, commit.oid, ids))
}

/** Closes an issue if the caller may change it at this moment, and if it is the first turn of the source. */
async function close(ctx: Ctx, issue: NamedRow, from: Source, takesTurn: (tx: Tx) => Promise<boolean>): Promise<void> {
  const subject = await loadIssue({ id: String(issue.holder.id), issue_iid: issue.iid }, ctx)
  if (!subject || !allows(issuePolicy.update_issue, ctx.actor, subject.facts)) return
  const authorId = ctx.actor!.id
  const body = `closed via ${sourceName(from, issue)}`
  await ctx.transaction(async (tx) => {
    // Before the issue, which the turn refers to.
    await lockState(tx, issue.holder.id)
    if (!(await takesTurn(tx)) || !(await closeIssue(tx, issue.id, authorId))) return
    await insertCrossReference(
      tx,
      { type: 'Issue', id: issue.id },
      { authorId, body, source: from.source, repeats: true },
    )
  })
}
