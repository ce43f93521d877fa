import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Id, OneOf, Optional, Params, Text, Timestamp } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { Pipeline, PipelineDetail } from './entity.ts'
import { listPipelines, pipelineOrders, pipelineRow } from './queries.ts'
import { getLatestPipeline, getPipeline, readScope, scopes } from './service.ts'
import { statuses } from './status.ts'

export const pipelineRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/pipelines',
    summary: 'List pipelines of a project',
    description: 'Newest first.',
    subject: project,
    allow: 'read_pipeline',
    params: Params({
      scope: Optional(
        OneOf(scopes, {
          description: 'Status of the pipelines; `branches` and `tags` return the newest pipeline of each existing ref',
        }),
      ),
      status: Optional(OneOf(statuses, { description: 'Only pipelines with this status' })),
      ref: Optional(Text({ description: 'Only of this branch or tag' })),
      sha: Optional(Text({ description: 'Only of this commit; full hash' })),
      username: Optional(Text({ description: 'Username of the user who reported the first status' })),
      updated_after: Optional(Timestamp({ description: 'Updated after this time' })),
      updated_before: Optional(Timestamp({ description: 'Updated before this time' })),
      order_by: OneOf(pipelineOrders, { default: 'id', description: 'Order' }),
      sort: OneOf(['asc', 'desc'], { default: 'desc', description: 'Direction' }),
    }),
    paged: true,
    returns: Pipeline,
    async handle({ subject, params, page, ctx }) {
      const scope = params.scope && (await readScope(ctx, subject, params.scope))
      const found = await fetchPage(ctx.db, pipelineRow, listPipelines(subject.id, params, scope), page)
      return { ...found, rows: found.rows.map((pipeline) => ({ pipeline, project: subject })) }
    },
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/pipelines/latest',
    summary: 'Get the latest pipeline',
    description: 'Returns the newest pipeline of the commit that a branch or tag points at.',
    subject: project,
    allow: 'read_pipeline',
    params: Params({ ref: Optional(Text({ description: 'Branch or tag; default: the default branch' })) }),
    returns: PipelineDetail,
    handle: async ({ subject, params, ctx }) => ({
      pipeline: await getLatestPipeline(ctx, subject, params.ref),
      project: subject,
    }),
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/pipelines/:pipeline_id',
    summary: 'Get a pipeline',
    subject: project,
    allow: 'read_pipeline',
    params: Params({ pipeline_id: Id({ description: 'ID of the pipeline' }) }),
    returns: PipelineDetail,
    handle: async ({ subject, params, ctx }) => ({
      pipeline: await getPipeline(ctx, subject, params.pipeline_id),
      project: subject,
    }),
  }),
]
