import { emptyTreeOid } from '../../../git/format/oid.ts'
import { shownPath } from '../../../git/format/text.ts'
import type { FilePatch, PatchLimits } from '../../../git/history/patch-reader.ts'
import { patchesBetweenTrees } from '../../../git/history/patches.ts'
import { type Commit, readCommit } from '../../../git/objects/commits.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { type ChangedLine, linesOf } from '../../discussion/index.ts'

/** Changes of a commit against its first parent. */
export async function changedFiles(
  repo: Repository,
  commit: Commit,
  limits: PatchLimits,
): Promise<readonly FilePatch[]> {
  const parent = commit.parents[0] && (await readCommit(repo, commit.parents[0]))
  return (await patchesBetweenTrees(repo, parent?.tree ?? emptyTreeOid, commit.tree, limits)).files
}

/** Whether a commit added or removed this line; context lines do not count. Costs as much as the diff of the commit. */
export async function isChangedLine(
  repo: Repository,
  commit: Commit,
  { path, line, kind }: ChangedLine,
  limits: PatchLimits,
): Promise<boolean> {
  const files = await changedFiles(repo, commit, limits)
  return files.some(
    ({ change, text }) =>
      shownPath(change.newPath) === path &&
      linesOf(text).some((each) => each.kind === kind && each.newPosition === line),
  )
}
