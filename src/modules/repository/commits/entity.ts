import { Type } from 'typebox'
import { entity } from '../../../api/entity.ts'
import { cacheableEntity, type RecordView } from '../../../api/record-view.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import type { Stats } from '../../../git/history/changes.ts'
import { type Commit as GitCommit, titleOf } from '../../../git/objects/commits.ts'
import { formatSignatureTime } from '../../../git/objects/signature.ts'
import { PipelineReferenceSchema, pipelineReference, statuses } from '../../ci/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'
import type { ContributorRow } from './contributors.ts'
import { lastPipelines } from './pipelines.ts'

/** A commit and the project it is shown in. */
export type CommitRow = {
  readonly commit: GitCommit
  readonly project: { readonly id: number; readonly full_path: string }
  /** Only if requested. */
  readonly stats?: Stats
}

/** The same, with the facts that decide whether the caller may read pipelines. */
export type CommitDetailRow = CommitRow & { readonly project: Pick<ProjectSubject, 'id' | 'full_path' | 'facts'> }

const basic = {
  id: Type.String({ description: 'Full hash of the commit' }),
  short_id: Type.String({ description: 'First eight digits of the hash' }),
  created_at: timestamp('Same as `committed_date`'),
  parent_ids: Type.Array(Type.String(), { description: 'Full hashes of the parents; empty for a root commit' }),
  title: Type.String({ description: 'First line of the message' }),
  message: Type.String({ description: 'Whole message of the commit' }),
  author_name: Type.String({ description: 'Name of the author' }),
  author_email: Type.String({ description: 'Email address of the author' }),
  authored_date: timestamp("Author date in the author's time zone"),
  committer_name: Type.String({ description: 'Name of the committer' }),
  committer_email: Type.String({ description: 'Email address of the committer' }),
  committed_date: timestamp("Committer date in the committer's time zone"),
  web_url: Type.String({ description: 'URL of the commit page' }),
  stats: Type.Optional(
    Type.Object(
      {
        additions: Type.Integer({ description: 'Number of added lines' }),
        deletions: Type.Integer({ description: 'Number of removed lines' }),
        total: Type.Integer({ description: 'Sum of both' }),
      },
      { title: 'CommitStats', description: 'Line counts against the first parent' },
    ),
  ),
}

function basicOf({ commit, project, stats }: CommitRow, { site }: Pick<RecordView, 'site'>) {
  const committedDate = formatSignatureTime(commit.committer)
  return {
    id: commit.oid,
    short_id: commit.oid.slice(0, 8),
    created_at: committedDate,
    parent_ids: [...commit.parents],
    title: titleOf(commit.message),
    message: commit.message,
    author_name: commit.author.name,
    author_email: commit.author.email,
    authored_date: formatSignatureTime(commit.author),
    committer_name: commit.committer.name,
    committer_email: commit.committer.email,
    committed_date: committedDate,
    web_url: `${site.url}/${project.full_path}/-/commit/${commit.oid}`,
    ...(stats && { stats: { ...stats } }),
  }
}

/** A commit in a list. */
export const Commit = cacheableEntity({
  name: 'Commit',
  schema: Type.Object(basic),
  present: (row: CommitRow, view) => basicOf(row, view),
})

/** One commit with its pipeline. */
export const CommitDetail = entity({
  name: 'CommitDetail',
  schema: Type.Object({
    ...basic,
    project_id: Type.Integer({ description: 'ID of the project' }),
    status: nullable(Type.String({ enum: [...statuses], description: 'State of `last_pipeline`; null without one' })),
    last_pipeline: nullable(PipelineReferenceSchema, {
      description: 'Null without pipelines or without permission to read them',
    }),
  }),
  gather: (rows: readonly CommitDetailRow[], ctx) => lastPipelines(ctx, rows),
  present(row, ctx, lastPipelineOf) {
    const pipeline = lastPipelineOf(row)
    return {
      ...basicOf(row, ctx),
      project_id: row.project.id,
      status: pipeline?.status ?? null,
      last_pipeline: pipeline ? pipelineReference(pipeline, row.project, ctx.site) : null,
    }
  },
})

/** The contributions of one email address. */
export const Contributor = entity({
  name: 'Contributor',
  schema: Type.Object({
    name: Type.String({ description: 'Name in the newest commit' }),
    email: Type.String({ description: 'Email address in the commits' }),
    commits: Type.Integer({ description: 'Number of commits' }),
    additions: Type.Integer({ description: 'Number of lines' }),
    deletions: Type.Integer({ description: 'Number of lines' }),
  }),
  present: (row: ContributorRow) => ({ ...row }),
})
