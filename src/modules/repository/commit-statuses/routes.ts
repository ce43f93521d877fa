import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Decimal, Flag, Id, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { CommitStatus } from './entity.ts'
import { statusesOf, statusRow } from './queries.ts'
import { defaultStatusRef, getCommitId, reportStatus, shortRef } from './service.ts'
import { states } from './states.ts'

const sha = Text({ description: 'Full or abbreviated commit hash, or branch or tag name' })

export const commitStatusRoutes = [
  /** Without a ref: at most one process, the first time, to check whether the default branch contains the commit. */
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/commits/:sha/statuses',
    summary: 'List statuses of a commit',
    description: 'Oldest first.',
    subject: project,
    allow: 'read_commit_status',
    params: Params({
      sha,
      ref: Optional(
        Text({
          description: 'Branch or tag; default: the default branch, or any ref if it has no statuses of the commit',
        }),
      ),
      stage: Optional(Text({ description: 'Only of this stage' })),
      name: Optional(Text({ description: 'Only with this name' })),
      all: Flag({ default: false, description: 'Include statuses replaced by later ones of the same name' }),
    }),
    paged: true,
    returns: CommitStatus,
    async handle({ subject, params, page, ctx }) {
      const { stage, name, all } = params
      const commit = await getCommitId(ctx, subject, params.sha)
      const ref = params.ref ? shortRef(params.ref) : await defaultStatusRef(ctx, subject, commit)
      const filters = {
        all,
        ...(ref !== undefined && { ref }),
        ...(stage && { stage }),
        ...(name && { name }),
      }
      return fetchPage(ctx.db, statusRow, statusesOf(subject.id, commit, filters), page)
    },
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/statuses/:sha',
    summary: 'Set the status of a commit',
    description: 'Creates a status or updates the one of the same name.',
    subject: project,
    allow: 'create_commit_status',
    params: Params({
      sha,
      state: OneOf(states, { description: 'State to report' }),
      ref: Optional(
        Text({
          description: 'Branch or tag; default: the ref of the pipeline, else the first ref that contains the commit',
        }),
      ),
      name: Optional(Text({ description: 'Name of the status, unique per commit and ref; default: `default`' })),
      context: Optional(Text({ description: 'Same as `name`, which takes precedence' })),
      target_url: Optional(Text({ description: 'URL with details; http or https' })),
      description: Optional(Text({ description: 'Short description, at most 255 characters' })),
      coverage: Optional(Decimal({ minimum: 0, maximum: 100, description: 'Code coverage in percent' })),
      pipeline_id: Optional(Id({ description: 'ID of the pipeline; default: the newest, or a new one' })),
    }),
    returns: CommitStatus,
    async handle({ subject, params, ctx }) {
      const commit = await getCommitId(ctx, subject, params.sha)
      return reportStatus(
        ctx,
        subject,
        { sha: commit, ref: params.ref || undefined, pipelineId: params.pipeline_id },
        {
          state: params.state,
          name: params.name ?? params.context ?? 'default',
          targetUrl: params.target_url || undefined,
          description: params.description,
          coverage: params.coverage,
        },
      )
    },
  }),
]
