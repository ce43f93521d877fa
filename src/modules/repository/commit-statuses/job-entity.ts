import { Type } from 'typebox'
import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { entity } from '../../../api/entity.ts'
import { described, nullable, timestamp } from '../../../api/schema.ts'
import { readCommitPage } from '../../../git/objects/commits.ts'
import { UserReferenceSchema, userReference } from '../../accounts/index.ts'
import { PipelineReferenceSchema, pipelineReference, statuses } from '../../ci/index.ts'
import { openRepository, type ProjectSubject } from '../../projects/index.ts'
import { Commit } from '../commits/entity.ts'
import type { StatusRow } from './queries.ts'

/** A status and its project; those of a page are of one project. */
export type JobRow = { readonly status: StatusRow; readonly project: ProjectSubject }

/** Guests of a private project may read its jobs, but not its code. */
const mayReadCommits = ({ actor }: Ctx, { facts }: ProjectSubject): boolean =>
  allows(projectPolicy.read_code, actor, facts)

/** The status of a commit in the format of jobs. */
export const Job = entity({
  name: 'Job',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of the job, which is that of the status' }),
    name: Type.String({ description: 'Name of the status' }),
    stage: Type.String({ description: 'Stage of the pipeline' }),
    status: Type.String({ enum: [...statuses], description: 'State that was reported' }),
    ref: Type.String({ description: 'Branch or tag' }),
    tag: Type.Boolean({ description: 'True if the ref is a tag' }),
    coverage: nullable(Type.Number({ description: 'Coverage in percent' })),
    allow_failure: Type.Boolean({ description: 'A failure counts as a warning' }),
    failure_reason: nullable(Type.String({ description: '`api_failure` for a failed job, else null' })),
    created_at: timestamp('Time of the first report'),
    started_at: nullable(timestamp(), { description: 'Time at which `running` was reported; null before' }),
    finished_at: nullable(timestamp(), { description: 'Time at which the result was reported; null before' }),
    duration: nullable(Type.Number({ description: 'Run time in seconds' })),
    queued_duration: nullable(Type.Number({ description: 'Queued time in seconds' })),
    user: nullable(UserReferenceSchema, { description: 'Null if the user was deleted' }),
    commit: nullable(Commit.schema, {
      description: 'Null if the commit is missing in the repository, or if the caller cannot read the code',
    }),
    pipeline: described(PipelineReferenceSchema, 'Pipeline that the job belongs to'),
    web_url: Type.String({ description: 'URL of the job page' }),
  }),
  async gather(rows: readonly JobRow[], ctx) {
    const { project } = rows[0]!
    if (!mayReadCommits(ctx, project)) return new Map()
    const shas = [...new Set(rows.map(({ status }) => status.pipeline.sha))]
    const commits = await readCommitPage(openRepository(ctx, project), shas)
    return new Map(shas.map((sha, index) => [sha, commits[index]]))
  },
  present({ status: row, project }, ctx, commits) {
    const commit = commits.get(row.pipeline.sha)
    return {
      id: row.id,
      name: row.name,
      stage: row.stage,
      status: row.status as string,
      ref: row.ref,
      tag: row.pipeline.tag,
      coverage: row.coverage,
      allow_failure: row.allow_failure,
      failure_reason: row.failure_reason,
      created_at: row.created_at,
      started_at: row.started_at,
      finished_at: row.finished_at,
      duration: row.duration,
      queued_duration: row.queued_duration,
      user: row.author && userReference(row.author, ctx),
      commit: commit ? Commit.present({ commit, project }, ctx) : null,
      pipeline: pipelineReference(row.pipeline, project, ctx.site),
      web_url: `${ctx.site.url}/${project.full_path}/-/jobs/${row.id}`,
    }
  },
})
