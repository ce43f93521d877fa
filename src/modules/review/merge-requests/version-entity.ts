import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import type { FilePatch } from '../../../git/history/patch-reader.ts'
import type { Commit as GitCommit } from '../../../git/objects/commits.ts'
import { Commit, type CommitRow, DiffEntry } from '../../repository/index.ts'
import { detailFields, detailOf, type MergeRequestDetailRow } from './detail-entity.ts'
import type { VersionRow } from './version-queries.ts'

const version = {
  id: Type.Integer({ description: 'ID of the version' }),
  head_commit_sha: nullable(Type.String(), { description: 'Null if the branch is missing' }),
  base_commit_sha: nullable(Type.String(), { description: 'Null without a common ancestor' }),
  start_commit_sha: nullable(Type.String(), { description: 'Head of the target branch at that time' }),
  created_at: timestamp('Time at which the version was recorded'),
  merge_request_id: Type.Integer({ description: 'ID of the merge request' }),
  state: Type.String({
    enum: ['collected', 'overflow', 'empty'],
    description: 'overflow if the diff has more files than listed',
  }),
  real_size: Type.String({ description: 'Number of files; `+` if there are more' }),
}

const versionOf = (row: VersionRow) => ({
  id: row.id,
  head_commit_sha: row.head_oid as string | null,
  base_commit_sha: row.base_oid as string | null,
  start_commit_sha: row.start_oid as string | null,
  created_at: row.created_at,
  merge_request_id: row.merge_request_id,
  state: row.state as string,
  real_size: `${row.files}${row.overflow ? '+' : ''}`,
})

/** A version of a merge request. */
export const MergeRequestVersion = entity({
  name: 'MergeRequestVersion',
  schema: Type.Object(version),
  present: (row: VersionRow) => versionOf(row),
})

export type VersionDetailRow = {
  readonly version: VersionRow
  readonly project: CommitRow['project']
  /** Newest first. */
  readonly commits: readonly GitCommit[]
  readonly files: readonly FilePatch[]
  /** Some files are omitted. */
  readonly cut: boolean
}

/** A version with its changes. */
export const MergeRequestVersionDetail = entity({
  name: 'MergeRequestVersionDetail',
  schema: Type.Object({
    ...version,
    commits: Type.Array(Commit.schema, { description: 'Commits of the version, newest first' }),
    diffs: Type.Array(DiffEntry.schema, { description: 'Diffs of the changed files' }),
    overflow: Type.Boolean({
      description: 'True if `diffs` is truncated: at 100,000 files, 2,000,000 lines or 20 MiB',
    }),
  }),
  present: ({ version, project, commits, files, cut }: VersionDetailRow, ctx) => ({
    ...versionOf(version),
    commits: commits.map((commit) => Commit.present({ commit, project }, ctx)),
    diffs: files.map((file) => DiffEntry.present(file, ctx, undefined)),
    overflow: cut,
  }),
})

export type MergeRequestChangesRow = MergeRequestDetailRow & {
  readonly files: readonly FilePatch[]
  /** Some files are omitted. */
  readonly cut: boolean
}

/** One merge request with its changes. */
export const MergeRequestChanges = entity({
  name: 'MergeRequestChanges',
  schema: Type.Object({
    ...detailFields,
    changes: Type.Array(DiffEntry.schema, { description: 'Diffs of the changed files' }),
    overflow: Type.Boolean({ description: 'True if the list is truncated' }),
  }),
  present: (row: MergeRequestChangesRow, ctx) => ({
    ...detailOf(row, ctx),
    changes: row.files.map((file) => DiffEntry.present(file, ctx, undefined)),
    overflow: row.cut,
  }),
})
