import { endpoint } from '../../../api/endpoint.ts'
import { Flag, Optional, Params, Text } from '../../../api/params/types.ts'
import { invalid } from '../../../kernel/failure.ts'
import { instance } from '../../instance/index.ts'
import { project } from '../../projects/index.ts'
import { checkPipeline } from './check.ts'
import { PipelineLint } from './entity.ts'
import { filesAt, lintCommit } from './service.ts'

const content = Text({ description: 'Pipeline configuration, at most 64 KiB' })
const include_jobs = Flag({ default: false, description: 'Include the jobs of a valid configuration' })
const dry_run = Flag({
  default: false,
  description: 'Only false: a simulated pipeline would evaluate rules, which is not supported',
})
const description = 'Checks jobs, stages and what they need. No pipeline is created.'

function refuseDryRun(asked: boolean): void {
  if (asked) throw invalid('dry_run is not supported: no pipeline can be simulated')
}

export const ciLintRoutes = [
  endpoint({
    method: 'POST',
    path: '/ci/lint',
    summary: 'Check a pipeline configuration',
    description,
    subject: instance,
    allow: 'use',
    params: Params({ content, include_jobs }),
    status: 200,
    returns: PipelineLint,
    handle: ({ params, ctx }) =>
      checkPipeline(ctx, { text: params.content, includeJobs: params.include_jobs }, async (path) => ({
        error: `Local file \`${path}\` does not have project!`,
      })),
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
      dry_run,
      include_jobs,
    }),
    status: 200,
    returns: PipelineLint,
    async handle({ subject, params, ctx }) {
      refuseDryRun(params.dry_run)
      const files = await filesAt(ctx, subject, params.ref)
      return checkPipeline(ctx, { text: params.content, includeJobs: params.include_jobs }, files)
    },
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/ci/lint',
    summary: 'Check the configuration of a project',
    description: `${description} The file is \`ci_config_path\` of the project, or \`.gitlab-ci.yml\`.`,
    subject: project,
    allow: 'read_code',
    params: Params({
      content_ref: Optional(Text({ description: 'Branch, tag or commit of the files; default: the default branch' })),
      sha: Optional(Text({ description: 'Older name of `content_ref`' })),
      dry_run,
      include_jobs,
    }),
    returns: PipelineLint,
    handle({ subject, params, ctx }) {
      refuseDryRun(params.dry_run)
      return lintCommit(ctx, subject, { ref: params.content_ref || params.sha, includeJobs: params.include_jobs })
    },
  }),
]
