import type { Ctx } from '../../../api/ctx.ts'
import { endpoint, raw } from '../../../api/endpoint.ts'
import type { List as RowList } from '../../../api/list.ts'
import { fetchPage, type Page, type Paged } from '../../../api/page.ts'
import { Flag, Id, List, OneOf, Optional, Params } from '../../../api/params/types.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { getPipeline, statuses } from '../../ci/index.ts'
import { type ProjectSubject, project } from '../../projects/index.ts'
import { Job, type JobRow } from './job-entity.ts'
import { findStatus, jobsOfPipeline, jobsOfProject, statusRow } from './queries.ts'

const scope = Optional(List(OneOf(statuses), { single: true, description: 'Only jobs with these statuses' }))

async function jobsPage(ctx: Ctx, within: ProjectSubject, list: RowList, page: Page): Promise<Paged<JobRow>> {
  const found = await fetchPage(ctx.db, statusRow, list, page)
  return { ...found, rows: found.rows.map((status) => ({ status, project: within })) }
}

export const jobRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/jobs',
    summary: 'List jobs of a project',
    description: 'Returns the commit statuses of the project as job records. Newest first.',
    subject: project,
    allow: 'read_job',
    params: Params({ scope }),
    paged: true,
    returns: Job,
    handle: ({ subject, params, page, ctx }) => jobsPage(ctx, subject, jobsOfProject(subject.id, params.scope), page),
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/jobs/:job_id',
    summary: 'Get a job',
    description: 'Returns a commit status as a job record.',
    subject: project,
    allow: 'read_job',
    params: Params({ job_id: Id({ description: 'ID of the job' }) }),
    returns: Job,
    async handle({ subject, params, ctx }) {
      const status = await findStatus(ctx.db, subject.id, params.job_id)
      if (!status) throw rowNotFound()
      return { status, project: subject }
    },
  }),

  /** Compat: clients such as glab show it beside the job. */
  endpoint({
    method: 'GET',
    path: '/projects/:id/jobs/:job_id/trace',
    summary: 'Get the log of a job',
    description: 'Always empty, because jobs run on external CI systems.',
    subject: project,
    allow: 'read_job',
    params: Params({ job_id: Id({ description: 'ID of the job' }) }),
    returns: raw('text/plain'),
    async handle({ subject, params, ctx }) {
      if (!(await findStatus(ctx.db, subject.id, params.job_id))) throw rowNotFound()
      return { body: Buffer.alloc(0), contentType: 'text/plain' }
    },
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/pipelines/:pipeline_id/jobs',
    summary: 'List jobs of a pipeline',
    description: 'Returns the commit statuses of the pipeline as job records. Newest first.',
    subject: project,
    allow: 'read_job',
    params: Params({
      pipeline_id: Id({ description: 'ID of the pipeline' }),
      scope,
      include_retried: Flag({
        default: false,
        description: 'Include statuses replaced by later ones of the same name',
      }),
    }),
    paged: true,
    returns: Job,
    async handle({ subject, params, page, ctx }) {
      const { id } = await getPipeline(ctx, subject, params.pipeline_id)
      return jobsPage(ctx, subject, jobsOfPipeline(id, params.scope, params.include_retried), page)
    },
  }),

  /** Compat: clients such as glab read them together with the jobs. */
  endpoint({
    method: 'GET',
    path: '/projects/:id/pipelines/:pipeline_id/bridges',
    summary: 'List trigger jobs of a pipeline',
    description: 'Always empty, because jobs run on external CI systems.',
    subject: project,
    allow: 'read_job',
    params: Params({ pipeline_id: Id({ description: 'ID of the pipeline' }) }),
    paged: true,
    returns: Job,
    async handle({ subject, params, ctx }) {
      await getPipeline(ctx, subject, params.pipeline_id)
      return { rows: [], total: 0, hasNext: false }
    },
  }),
]
