import { textOf } from '../../../api/cached-records.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { RecordText } from '../../../api/record-texts.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { branchName, branchRef } from '../../../git/format/ref-name.ts'
import { mergedInto } from '../../../git/history/ancestry.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import { formatSignatureTime } from '../../../git/objects/signature.ts'
import { listRefTips, type RefOrder, type RefTip, readRef } from '../../../git/refs/refs.ts'
import { resolve } from '../../../git/refs/resolve.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { invalid, notFound } from '../../../kernel/failure.ts'
import { initialBranch, openRepository, type ProjectSubject } from '../../projects/index.ts'
import { canPushToBranch, commitReadme, ifReadable, loadProtections, moveRefs } from '../../pushes/index.ts'
import { deleteRef } from '../commits/delete-ref.ts'
import { refuseCollision } from '../commits/move-branch.ts'
import { Branch, type BranchRow, branchKey } from './entity.ts'
import { matchNames, searchNames } from './ref-search.ts'

export const nameOfBranch = ({ name }: RefTip): string => branchName(name) ?? name

/** Commit of the default branch; `undefined` without one. */
export async function defaultTip(repo: Repository, project: ProjectSubject): Promise<Oid | undefined> {
  const ref = project.default_branch === null ? undefined : branchRef(project.default_branch)
  return ref && readRef(repo, ref)
}

/** All branches that match a search and an expression. The array is cached: do not modify it. Reads files of refs; starts no process. */
export async function findBranches(
  repo: Repository,
  { search, regex }: { readonly search?: string; readonly regex?: string },
  order: RefOrder,
): Promise<readonly RefTip[]> {
  const all = await listRefTips(repo, 'refs/heads/', { order, broken: 'list' })
  const found = search ? searchNames(all, search, nameOfBranch) : all
  return regex ? matchNames(found, regex, nameOfBranch) : found
}

/**
 * The branches of a page with their commits: one statement, at most one round trip to git, and one walk of the history
 * for results that are not cached.
 */
export async function branchRows(ctx: Ctx, project: ProjectSubject, refs: readonly RefTip[]): Promise<BranchRow[]> {
  const repo = openRepository(ctx, project)
  const [protections, tip, commits] = await Promise.all([
    loadProtections(ctx, project),
    ifReadable(ctx, defaultTip(repo, project), undefined),
    Promise.all(refs.map(({ oid }) => ifReadable(ctx, readCommit(repo, oid), undefined))),
  ])
  const readable = refs.filter((_, index) => commits[index])
  const merged = tip ? await ifReadable(ctx, mergedInto(repo, tip, readable), new Set()) : new Set()
  return refs.map((ref, index) => {
    const name = nameOfBranch(ref)
    const commit = commits[index]
    const standing = {
      merged: merged.has(ref.name),
      protected: protections.isProtected('branch', name),
      default: name === project.default_branch,
      developers_can_push: protections.grantsDevelopers('push', name),
      developers_can_merge: protections.grantsDevelopers('merge', name),
      can_push: canPushToBranch(ctx, project, protections, name),
    }
    return { name, commit, standing, project }
  })
}

/** The records of a page as cached text. */
export async function branchTexts(ctx: Ctx, project: ProjectSubject, refs: readonly RefTip[]): Promise<RecordText[]> {
  const rows = await branchRows(ctx, project, refs)
  return Promise.all(rows.map((row) => textOf(ctx, Branch, branchKey(row), async () => row)))
}

/**
 * A branch; throws `not_found` if there is none of this name. One statement, and at most one round trip to git for a
 * commit that is not cached.
 */
export async function getBranch(ctx: Ctx, project: ProjectSubject, name: string): Promise<BranchRow> {
  const ref = branchRef(name)
  const oid = ref && (await readRef(openRepository(ctx, project), ref))
  const [row] = ref && oid ? await branchRows(ctx, project, [{ name: ref, oid }]) : []
  if (!row) throw notFound('Branch')
  return row
}

/** Commit time of a branch; `undefined` if it does not exist, or cannot be read. */
export async function branchChangedAt(ctx: Ctx, project: ProjectSubject, name: string): Promise<string | undefined> {
  const repo = openRepository(ctx, project)
  const ref = branchRef(name)
  const oid = ref && (await ifReadable(ctx, readRef(repo, ref), undefined))
  const commit = oid && (await ifReadable(ctx, readCommit(repo, oid), undefined))
  return commit && formatSignatureTime(commit.committer)
}

/**
 * Creates a branch at `from`: a branch, in preference to a tag of the same name, or a commit. Of two concurrent
 * requests one succeeds. Compat: clients that set up a project expect a branch from the default branch of an empty
 * repository. That branch is created with it, with a README: both or none.
 */
export async function createBranch(ctx: Ctx, project: ProjectSubject, name: string, from: string): Promise<BranchRow> {
  const ref = branchRef(name)
  if (!ref) throw invalid('Branch name is invalid')
  const repo = openRepository(ctx, project)
  const [existing, to] = await Promise.all([readRef(repo, ref), resolve(repo, from, { prefer: 'branch' })])
  if (existing) throw invalid('Branch already exists')
  if (!to) {
    const first = await unbornDefault(repo, project)
    if (first === undefined || (from !== first && from !== 'HEAD')) throw invalid(`Invalid reference name: ${from}`)
    const isStarted = (await commitReadme(ctx, project, first, ref).catch(refuseCollision)) === 'moved'
    const started = { ...project, default_branch: first }
    return isStarted ? getBranch(ctx, started, name) : createBranch(ctx, started, name, first)
  }
  const change = { name: ref, from: null, to }
  const outcome = await moveRefs(ctx, project.id, repo, [change], { refusal: invalid }).catch(refuseCollision)
  if (outcome === 'stale') throw invalid('Branch already exists')
  return getBranch(ctx, project, name)
}

/** Name of the default branch, if the repository has no branch yet. */
async function unbornDefault(repo: Repository, project: ProjectSubject): Promise<string | undefined> {
  const [branch] = await listRefTips(repo, 'refs/heads/', { limit: 1 })
  return branch ? undefined : (project.default_branch ?? initialBranch)
}

/** Deletes a branch, even if it moves in the meantime, provided that it satisfies `requireUnmodified`. */
export async function deleteBranch(
  ctx: Ctx,
  project: ProjectSubject,
  name: string,
  requireUnmodified: () => Promise<void>,
): Promise<void> {
  const repo = openRepository(ctx, project)
  const ref = branchRef(name)
  if (!ref || !(await deleteRef(ctx, project, repo, ref, requireUnmodified))) throw notFound('Branch')
}
