import type { Ctx } from '../../../api/ctx.ts'
import { emptyTreeOid, type Oid } from '../../../git/format/oid.ts'
import { mergeTrees } from '../../../git/merge/merge-trees.ts'
import { type Commit, cacheCommit, parseCommit, readCommit } from '../../../git/objects/commits.ts'
import { commitObject, type NewSignature, treeObject, writeObjects } from '../../../git/objects/objects.ts'
import { writtenAs } from '../../../git/objects/signature.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { Failure } from '../../../kernel/failure.ts'
import { callerSignature } from '../../accounts/index.ts'
import type { MadeCommit } from './move-branch.ts'

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
}

/** The tree of the first parent, also for a merge; the empty tree for a root commit. */
async function treeBefore(repo: Repository, { parents }: Commit): Promise<Oid> {
  const parent = parents[0] && (await readCommit(repo, parents[0]))
  return parent ? parent.tree : emptyTreeOid
}

/** The change of a commit, with its author. `message` replaces the default one. */
export async function cherryPickOf(ctx: Ctx, repo: Repository, commit: Commit, message?: string): Promise<Pick> {
  return {
    base: await treeBefore(repo, commit),
    theirs: commit.tree,
    author: writtenAs(commit.author),
    committer: callerSignature(ctx),
    message: message ?? `${commit.message.trimEnd()}\n\n(cherry picked from commit ${commit.oid})`,
    verbs: ['cherry-pick', 'cherry-picked'],
  }
}

/** Maximum characters of the title in the message of a revert. */
const maxTitleLength = 81

/** The inverse of a commit's change, with the caller as author. */
export async function revertOf(ctx: Ctx, repo: Repository, commit: Commit): Promise<Pick> {
  const committer = callerSignature(ctx)
  const line = commit.message.split(/[\r\n]/, 1)[0]!.trim()
  const letters = [...line]
  const title = letters.length > maxTitleLength ? `${letters.slice(0, maxTitleLength - 3).join('')}...` : line
  return {
    base: commit.tree,
    theirs: await treeBefore(repo, commit),
    author: committer,
    committer,
    message: `Revert "${title}"\n\nThis reverts commit ${commit.oid}`,
    verbs: ['revert', 'reverted'],
  }
}

/** Applies the change to a commit, as a new commit. At most one `merge-tree` process. */
export async function applyPick(repo: Repository, pick: Pick, onto: Commit): Promise<MadeCommit> {
  const tree = await mergeTrees(repo, { base: pick.base, ours: onto.tree, theirs: pick.theirs })
  if (tree === 'conflict') throw notApplicable(pick, 'conflict')
  if (tree === onto.tree) throw notApplicable(pick, 'empty')
  const object = commitObject({ ...pick, tree, parents: [onto.oid] })
  const commit = parseCommit(object.oid, object.content)
  return {
    commit,
    async store() {
      // Git knows the empty tree without an object, but its connectivity checks need the object.
      await writeObjects(repo, [...(tree === emptyTreeOid ? [treeObject([])] : []), object])
      cacheCommit(repo, commit)
    },
  }
}

const notApplicable = ({ verbs: [infinitive, participle] }: Pick, code: 'conflict' | 'empty'): Failure =>
  new Failure(
    'invalid',
    `Sorry, we cannot ${infinitive} this commit automatically. This commit may already have been ${participle}, or a more recent commit may have updated some of its content.`,
    { code },
  )
