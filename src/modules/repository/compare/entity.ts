import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable } from '../../../api/schema.ts'
import type { FilePatch } from '../../../git/history/patch-reader.ts'
import type { Commit as GitCommit } from '../../../git/objects/commits.ts'
import { DiffEntry } from '../commits/diff-entity.ts'
import { Commit, type CommitRow } from '../commits/entity.ts'

export type ComparisonRow = {
  readonly project: CommitRow['project']
  /** Oldest first. */
  readonly commits: readonly GitCommit[]
  readonly files: readonly FilePatch[]
  /** Some commits or files are omitted. */
  readonly cut: boolean
  /** Absent if a ref does not exist. */
  readonly sameRef: boolean | undefined
}

/** Commits and changes that one ref has and another lacks. */
export const Comparison = entity({
  name: 'Comparison',
  schema: Type.Object({
    commit: nullable(Commit.schema, { description: 'Newest of the commits' }),
    commits: Type.Array(Commit.schema, { description: 'Commits of `to` that `from` lacks, oldest first' }),
    diffs: Type.Array(DiffEntry.schema, { description: 'Diffs of the changed files' }),
    compare_timeout: Type.Boolean({ description: 'True if the comparison is truncated or timed out' }),
    compare_same_ref: nullable(
      Type.Boolean({ description: 'True if both refs resolve to the same commit; null if one does not exist' }),
    ),
  }),
  present({ project, commits, files, cut, sameRef }: ComparisonRow, ctx) {
    const records = commits.map((commit) => Commit.present({ commit, project }, ctx))
    return {
      commit: records.at(-1) ?? null,
      commits: records,
      diffs: files.map((file) => DiffEntry.present(file, ctx, undefined)),
      compare_timeout: cut,
      compare_same_ref: sameRef ?? null,
    }
  },
})
