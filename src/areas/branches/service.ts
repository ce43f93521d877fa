import type { Ctx } from '../../api/ctx.ts'
import { isAncestor, mergedInto } from '../../git/ancestry.ts'
import { readCommit, readCommits } from '../../git/commits.ts'
import type { Oid } from '../../git/oid.ts'
import { branchName, branchRef } from '../../git/ref-name.ts'
import { listRefTips, type RefOrder, type RefTip, readRef } from '../../git/refs.ts'
import type { Repository } from '../../git/repository.ts'
import { resolve } from '../../git/resolve.ts'
import { formatSignatureTime } from '../../git/signature.ts'
import { conflict, invalid, notFound } from '../../kernel/failure.ts'
import type { ProjectSubject } from '../projects/subject.ts'
import { moveRefs } from '../pushes/move-refs.ts'
import { openRepository } from '../repositories/open.ts'
import type { BranchRow } from './entity.ts'
import { searchNames } from './ref-search.ts'

export const nameOfBranch = ({ name }: RefTip): string => branchName(name) ?? name

/** Where the default branch is; `undefined` without one. One round trip. */
export async function defaultTip(repo: Repository, project: ProjectSubject): Promise<Oid | undefined> {
  const ref = project.default_branch === null ? undefined : branchRef(project.default_branch)
  return ref && readRef(repo, ref)
}

/** All branches that a search finds. One process. */
export async function findBranches(repo: Repository, search: string | undefined, order: RefOrder): Promise<readonly RefTip[]> {
  const all = await listRefTips(repo, 'refs/heads/', { order })
  return search ? searchNames(all, search, nameOfBranch) : all
}

/** The branches of a page with their commits: one round trip, and one process for what is merged. */
export async function branchRows(
  repo: Repository,
  project: ProjectSubject,
  refs: readonly RefTip[],
): Promise<BranchRow[]> {
  const [tip, commits] = await Promise.all([
    defaultTip(repo, project),
    readCommits(
      repo,
      refs.map(({ oid }) => oid),
    ),
  ])
  const merged = tip ? await mergedInto(repo, tip, refs) : new Set()
  return refs.flatMap((ref, index) => {
    const commit = commits[index]
    return commit ? [{ name: nameOfBranch(ref), commit, merged: merged.has(ref.name), project }] : []
  })
}

/** One branch. Fails when there is none of this name. A round trip; one process the first time for its commit. */
export async function getBranch(ctx: Ctx, project: ProjectSubject, name: string): Promise<BranchRow> {
  const repo = openRepository(ctx, project)
  const ref = branchRef(name)
  const [oid, tip] = await Promise.all([ref && readRef(repo, ref), defaultTip(repo, project)])
  const commit = oid && (await readCommit(repo, oid))
  if (!commit) throw notFound('Branch')
  const merged = tip !== undefined && tip !== commit.oid && (await isAncestor(repo, commit.oid, tip))
  return { name, commit, merged, project }
}

/** When its commit was made; `undefined` for no branch. */
export async function branchChangedAt(ctx: Ctx, project: ProjectSubject, name: string): Promise<string | undefined> {
  const repo = openRepository(ctx, project)
  const ref = branchRef(name)
  const oid = ref && (await readRef(repo, ref))
  const commit = oid && (await readCommit(repo, oid))
  return commit && formatSignatureTime(commit.committer)
}

/** A new branch at what `from` names: a branch rather than a tag of that name, or a commit. Of two at once, one is made. */
export async function createBranch(ctx: Ctx, project: ProjectSubject, name: string, from: string): Promise<BranchRow> {
  const ref = branchRef(name)
  if (!ref) throw invalid('Branch name is invalid')
  const repo = openRepository(ctx, project)
  const [existing, to] = await Promise.all([readRef(repo, ref), resolve(repo, from, { prefer: 'branch' })])
  if (existing) throw invalid('Branch already exists')
  if (!to) throw invalid(`Invalid reference name: ${from}`)
  const outcome = await moveRefs(ctx, project.id, repo, [{ name: ref, from: null, to }], { refusal: invalid })
  if (outcome === 'stale') throw invalid('Branch already exists')
  return getBranch(ctx, project, name)
}

/** Deletes a branch as it is now. Fails with a conflict when it moves meanwhile. */
export async function deleteBranch(ctx: Ctx, project: ProjectSubject, name: string): Promise<void> {
  const repo = openRepository(ctx, project)
  const ref = branchRef(name)
  const from = ref && (await readRef(repo, ref))
  if (!ref || !from) throw notFound('Branch')
  const outcome = await moveRefs(ctx, project.id, repo, [{ name: ref, from, to: null }], { refusal: invalid })
  if (outcome === 'stale') throw conflict('The branch has changed meanwhile')
}
