import type { Ctx } from '../../../api/ctx.ts'
import { emptyTreeOid } from '../../../git/format/oid.ts'
import { shownPath } from '../../../git/format/text.ts'
import type { FilePatch } from '../../../git/history/patch-reader.ts'
import { patchesBetweenTrees } from '../../../git/history/patches.ts'
import { type Commit, treeBefore } from '../../../git/objects/commits.ts'
import {
  type ChangedLine,
  findLine,
  linesOf,
  type NotePlace,
  refuseNote,
  type WantedLine,
} from '../../discussion/index.ts'
import { type Located, openRepository } from '../../projects/index.ts'
import { diffLimits } from '../commits/diff-limits.ts'

type InProject = { readonly project: Located; readonly commit: Commit }

/** Changes of a commit against its first parent. */
async function changedFiles(ctx: Ctx, { project, commit }: InProject): Promise<readonly FilePatch[]> {
  const repo = openRepository(ctx, project)
  const before = await treeBefore(repo, commit)
  return (await patchesBetweenTrees(repo, before, commit.tree, diffLimits(ctx.settings))).files
}

/** Whether a commit added or removed this line; context lines do not count. Costs as much as the diff of the commit. */
export async function isChangedLine(ctx: Ctx, subject: InProject, { path, line, kind }: ChangedLine): Promise<boolean> {
  const files = await changedFiles(ctx, subject)
  return files.some(
    ({ change, text }) =>
      shownPath(change.newPath) === path &&
      linesOf(text).some((each) => each.kind === kind && each.newPosition === line),
  )
}

const ends = (commit: Commit): string[] => {
  const base = commit.parents[0] ?? emptyTreeOid
  return [base, base, commit.oid]
}

/** The requested position. Throws if the diff of the commit against its first parent does not show it. Costs as much as that diff. */
export async function placeOf(ctx: Ctx, subject: InProject, wanted: WantedLine): Promise<NotePlace> {
  const isOfCommit = ends(subject.commit).join() === [wanted.base_sha, wanted.start_sha, wanted.head_sha].join()
  const place = isOfCommit ? findLine(await changedFiles(ctx, subject), wanted) : undefined
  if (!place) throw refuseNote('position', 'is not in the diff of the commit')
  return place
}
