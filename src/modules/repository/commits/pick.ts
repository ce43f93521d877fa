import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { mergeTrees } from '../../../git/merge/merge-trees.ts'
import { type Commit, readCommitsWithin, titleOf, treeBefore } from '../../../git/objects/commits.ts'
import type { NewSignature } from '../../../git/objects/objects.ts'
import { type PreparedCommit, prepareCommit } from '../../../git/objects/prepare-commit.ts'
import { writtenAs } from '../../../git/objects/signature.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { Failure } from '../../../kernel/failure.ts'
import { callerSignature } from '../../accounts/index.ts'
import { findMergedBy, type MergedBy } from './merge-queries.ts'

/** A change of a commit to apply again or revert. */
export type Pick = {
  /** The change is the difference between the trees `base` and `theirs`. */
  readonly base: Oid
  readonly theirs: Oid
  readonly author: NewSignature
  readonly committer: NewSignature
  readonly message: string
  /** Verbs of the error message: `['cherry-pick', 'cherry-picked']`. */
  readonly verbs: readonly [infinitive: string, participle: string]
  readonly noun: 'commit' | 'merge request'
}

/** What is applied or reverted, in error messages. */
const nounOf = (merged: MergedBy | undefined): Pick['noun'] => (merged ? 'merge request' : 'commit')

/** Maximum characters of messages that are read for the list of commits of a merge request. */
const maxMessageCharacters = 8 * 1024 * 1024

/** One line for each commit of the merge request, oldest first. */
async function listOfCommits(repo: Repository, { commits: oids }: MergedBy): Promise<string> {
  const { commits } = await readCommitsWithin(repo, oids, maxMessageCharacters)
  return commits.map(({ oid, message }) => `${oid.slice(0, 8)} ${titleOf(message)}`).join('\n')
}

/**
 * The change of a commit of a project, with its author. `message` replaces the default one, which for the merge commit of a merge request
 * also lists its commits. One statement.
 */
export async function cherryPickOf(
  ctx: Ctx,
  projectId: number,
  repo: Repository,
  commit: Commit,
  message?: string,
): Promise<Pick> {
  const merged = await findMergedBy(ctx.db, projectId, commit.oid)
  const text = [
    commit.message.trimEnd(),
    `(cherry picked from commit ${commit.oid})`,
    ...(merged && message === undefined ? [await listOfCommits(repo, merged)] : []),
  ]
  return {
    base: await treeBefore(repo, commit),
    theirs: commit.tree,
    author: writtenAs(commit.author),
    committer: callerSignature(ctx),
    message: message ?? text.filter((part) => part !== '').join('\n\n'),
    noun: nounOf(merged),
    verbs: ['cherry-pick', 'cherry-picked'],
  }
}

/** Maximum characters of the title in the message of a revert. */
const maxTitleLength = 81

/**
 * The inverse of a commit's change, with the caller as author. The message names the merge request whose merge commit it is. One
 * statement.
 */
export async function revertOf(ctx: Ctx, projectId: number, repo: Repository, commit: Commit): Promise<Pick> {
  const merged = await findMergedBy(ctx.db, projectId, commit.oid)
  const committer = callerSignature(ctx)
  const line = titleOf(commit.message).trim()
  const letters = [...line]
  const title = letters.length > maxTitleLength ? `${letters.slice(0, maxTitleLength - 3).join('')}...` : line
  return {
    base: commit.tree,
    theirs: await treeBefore(repo, commit),
    author: committer,
    committer,
    message: `Revert "${title}"\n\nThis reverts ${merged ? `merge request !${merged.iid}` : `commit ${commit.oid}`}`,
    noun: nounOf(merged),
    verbs: ['revert', 'reverted'],
  }
}

/** Applies the change to a commit, as a new commit. At most one `merge-tree` process. */
export async function applyPick(repo: Repository, pick: Pick, onto: Commit): Promise<PreparedCommit> {
  const tree = await mergeTrees(repo, { base: pick.base, ours: onto.tree, theirs: pick.theirs })
  if (tree === 'conflict') throw notApplicable(pick, 'conflict')
  if (tree === onto.tree) throw notApplicable(pick, 'empty')
  return prepareCommit(repo, { ...pick, tree, parents: [onto.oid] })
}

const notApplicable = ({ verbs: [infinitive, participle], noun }: Pick, code: 'conflict' | 'empty'): Failure =>
  new Failure(
    'invalid',
    `Sorry, we cannot ${infinitive} this ${noun} automatically. This ${noun} may already have been ${participle}, or a more recent commit may have updated some of its content.`,
    { code },
  )
