import type { Ctx } from '../../../api/ctx.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import { emptyTreeOid, type Oid } from '../../../git/format/oid.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { commitStats } from '../../../git/history/changes.ts'
import { type Commit, readCommit } from '../../../git/objects/commits.ts'
import { prepareCommit } from '../../../git/objects/prepare-commit.ts'
import { TreeEdit } from '../../../git/objects/tree-edit.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { invalid } from '../../../kernel/failure.ts'
import { Turns } from '../../../kernel/turns.ts'
import { callerSignature } from '../../accounts/index.ts'
import { openForWriting, openRepository, type ProjectSubject } from '../../projects/index.ts'
import { type RefusalKind, requireBranchAccess } from './branch-access.ts'
import { applyActions, type FileAction, touchedPaths } from './file-actions.ts'
import { linkLargeFiles, NewLargeFiles, pointersAt } from './large-files.ts'
import { lostRace, moveBranch, type NewTip, type Target } from './move-branch.ts'
import { requireFresh } from './stale-check.ts'
import { findStart, refuseBranchName, type Start } from './start-point.ts'

/** A requested commit. */
export type CommitRequest = {
  readonly project: ProjectSubject
  readonly branch: string
  readonly start: Start
  /** Commit of which the caller saw the files: fails if the branch has others now at the paths of the actions. */
  readonly seen?: Oid
  readonly actions: readonly FileAction[]
  readonly message: string
  readonly author: { readonly name?: string | undefined; readonly email?: string | undefined }
  /** Failure for a branch that the caller may not push to. */
  readonly refusal: RefusalKind
  /** Error message for an action whose file has changed since its `last_commit_id`. */
  readonly stale: (action: FileAction) => string
  /** Counts its lines in parallel with the move of the branch, so that statistics are cached. */
  readonly counted?: boolean
  /**
   * Stores what the commit is for before a push to it is recorded, so that it can be completed after a crash. Called again with
   * another commit if another writer moves the branch first.
   */
  readonly intend?: (commit: Oid) => Promise<unknown>
}

/**
 * Creates one commit of all the actions, or none, and moves the branch to it: the only way in which the API writes
 * files. The branch may be new, and the first of its repository. One round trip to git moves the branch; others load
 * what is not cached; no process, unless an action names a last commit. Push rules and journal run in parallel with
 * writing the objects.
 */
export async function createCommit(ctx: Ctx, request: CommitRequest): Promise<Commit> {
  const { project, branch, start } = request
  await requireBranchAccess(ctx, project, branch, request.refusal)
  const ref = branchRef(branch)
  if (!ref) throw await refuseBranchName(openRepository(ctx, project), branch, start)
  const repo = await openForWriting(ctx, { ...project, default_branch: project.default_branch ?? branch })
  const target: Target = { project, repo, branch, ref, refusal: request.refusal }
  let first: Commit | undefined | 'not_read' = request.seen ? await readCommit(repo, request.seen) : 'not_read'
  return moveBranch(ctx, target, async (tip) => {
    const from = await findStart(target, start, tip)
    // Another writer was first. The commit is refused only if the same paths changed.
    if (first !== 'not_read' && !(await isSameAt(repo, request.actions.flatMap(touchedPaths), first, from)))
      throw lostRace(branch)
    first = from
    await requireFresh(repo, from, request.actions, request.stale)
    const made = await makeCommit(ctx, repo, from, request)
    await request.intend?.(made.commit.oid)
    return made
  })
}

async function makeCommit(
  ctx: Ctx,
  repo: Repository,
  from: Commit | undefined,
  { project, start, actions, message, author, counted }: CommitRequest,
): Promise<NewTip> {
  const edit = await TreeEdit.of(repo, from?.tree)
  const largeFiles = await NewLargeFiles.of(ctx, project, repo, edit)
  const contents = await applyActions(repo, edit, actions, largeFiles?.pointerTo)
  const { tree, objects, added } = await edit.finish()
  if (tree === (from?.tree ?? emptyTreeOid)) throw invalid('Nothing would change: the commit would be empty')
  const committer = callerSignature(ctx)
  const newCommit = {
    tree,
    parents: from ? [from.oid] : [],
    author: {
      ...committer,
      name: author.name?.trim() || committer.name,
      email: author.email?.trim() || committer.email,
    },
    committer,
    message,
  }
  const below = [...contents.filter(({ oid }) => added.has(oid)), ...objects]
  const prepared = prepareCommit(repo, newCommit, below, edit)
  const other = start.other
  let brought: readonly Digest[] = []
  return {
    ...prepared,
    async store() {
      const found = from && other ? pointersAt(ctx, repo, from.oid) : []
      const work = [found, largeFiles?.store(), prepared.store()] as const
      // Waits for all even if one fails.
      await Promise.allSettled(work)
      ;[brought] = await Promise.all(work)
      // The request for the statistics reports the error.
      if (counted) commitStats(repo, prepared.commit.oid).catch(() => {})
    },
    // A refused commit adds nothing to the files of the project.
    async link() {
      if (other) await linkLargeFiles(ctx, project, { oids: brought, of: other.id })
      await largeFiles?.link()
    },
  }
}

/** Whether all paths have the same content in two commits, either of which may be absent. */
async function isSameAt(
  repo: Repository,
  paths: readonly string[],
  before: Commit | undefined,
  after: Commit | undefined,
): Promise<boolean> {
  if (before?.oid === after?.oid) return true
  const [old, now] = await Promise.all([TreeEdit.of(repo, before?.tree), TreeEdit.of(repo, after?.tree)])
  const turns = new Turns()
  for (const path of new Set(paths)) {
    if (turns.isOver) await turns.next()
    const [was, is] = [await old.find(path), await now.find(path)]
    if (was?.mode !== is?.mode || was?.oid !== is?.oid) return false
  }
  return true
}
