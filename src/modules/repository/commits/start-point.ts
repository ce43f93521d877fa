import type { Oid } from '../../../git/format/oid.ts'
import { branchRef, isLikeCommitId } from '../../../git/format/ref-name.ts'
import { type Commit, readTip } from '../../../git/objects/commits.ts'
import { listRefTips, readRef } from '../../../git/refs/refs.ts'
import { resolve } from '../../../git/refs/resolve.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { fetchCommit } from '../../../git/transfer/fetch.ts'
import { type Failure, invalid } from '../../../kernel/failure.ts'
import { type Target, unusableName } from './move-branch.ts'

/** Where a commit starts; default: the tip of its branch. */
export type Start = {
  readonly branch?: string
  readonly sha?: string
  /** Another project, with its repository. */
  readonly other?: { readonly id: number; readonly repo: Repository }
  /** The branch may be elsewhere and is overwritten. */
  readonly force?: boolean
}

const hasBranches = async (repo: Repository): Promise<boolean> =>
  (await listRefTips(repo, 'refs/heads/', { limit: 1 })).length > 0

const noBranch = () => invalid('You can only create or edit files when you are on a branch')

/**
 * The commit to start from; `undefined` in an empty repository, where the first commit may create any branch. `tip` is
 * the current commit of the branch. Fetches the commit if it is in another repository.
 */
export async function findStart({ repo, branch }: Target, start: Start, tip: Oid | null): Promise<Commit | undefined> {
  const from = start.other?.repo ?? repo
  const differs = start.other !== undefined || start.sha !== undefined || (start.branch ?? branch) !== branch
  const oid =
    start.sha === undefined ? await tipOf(from, start.branch ?? branch, differs, tip) : await shaOf(from, start.sha)
  if (oid === undefined && (start.other !== undefined || (await hasBranches(repo)))) throw noBranch()
  if (differs && tip !== null && !start.force)
    throw invalid(`A branch called '${branch}' already exists. Switch to that branch in order to make changes`)
  if (tip === null && isLikeCommitId(branch)) throw unusableName(branch, 'Branch name is invalid')
  if (oid === undefined) return undefined
  if (start.other) await fetchCommit(repo, start.other.repo, oid)
  return readTip(repo, oid)
}

/** The error of an invalid branch name, in the order of the checks. */
export async function refuseBranchName(repo: Repository, branch: string, start: Start): Promise<Failure> {
  const from = start.other?.repo ?? repo
  const ref = branchRef(start.branch ?? branch)
  const begins = start.sha !== undefined || (ref !== undefined && (await readRef(from, ref)) !== undefined)
  return begins || !(await hasBranches(repo)) ? unusableName(branch, 'Branch name is invalid') : noBranch()
}

async function tipOf(repo: Repository, name: string, differs: boolean, tip: Oid | null): Promise<Oid | undefined> {
  if (!differs) return tip ?? undefined
  const ref = branchRef(name)
  return ref && readRef(repo, ref)
}

/** Only a full or abbreviated id is accepted: branches have a parameter of their own. */
async function shaOf(repo: Repository, sha: string): Promise<Oid> {
  const oid = /^[0-9a-f]{7,40}$/i.test(sha) ? await resolve(repo, sha) : undefined
  if (!oid) throw invalid(`Cannot find start_sha '${sha}'`)
  return oid
}
