import { endpoint } from '../../../api/endpoint.ts'
import { Optional, Params, Text } from '../../../api/params/types.ts'
import { instance } from '../../instance/index.ts'
import { project } from '../../projects/index.ts'
import { PipelineLint } from './entity.ts'
import { lintPipeline } from './lint.ts'
import { filesAt, lintCommit } from './service.ts'

const content = Text({ description: 'Pipeline configuration, at most 64 KiB' })
const description = 'Checks jobs, stages and what they need. No pipeline is created.'

export const ciLintRoutes = [
  endpoint({
    method: 'POST',
    path: '/ci/lint',
    summary: 'Check a pipeline configuration',
    description,
    subject: instance,
    allow: 'use',
    params: Params({ content }),
    status: 200,
    returns: PipelineLint,
    handle: ({ params }) =>
      lintPipeline(params.content, async (path) => ({ error: `Local file \`${path}\` does not have project!` })),
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/ci/lint',
    summary: 'Check a configuration for a project',
    description: `${description} Includes local files of the project.`,
    subject: project,
    allow: 'read_code',
    params: Params({
      content,
      ref: Optional(Text({ description: 'Branch, tag or commit of included files; default: the default branch' })),
    }),
    status: 200,
    returns: PipelineLint,
    handle: async ({ subject, params, ctx }) => lintPipeline(params.content, await filesAt(ctx, subject, params.ref)),
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/ci/lint',
    summary: 'Check the configuration of a project',
    description: `${description} The file is \`.gitlab-ci.yml\`.`,
    subject: project,
    allow: 'read_code',
    params: Params({
      content_ref: Optional(Text({ description: 'Branch, tag or commit of the files; default: the default branch' })),
      sha: Optional(Text({ description: 'Older name of `content_ref`' })),
    }),
    returns: PipelineLint,
    handle: ({ subject, params, ctx }) => lintCommit(ctx, subject, params.content_ref || params.sha),
  }),
]
