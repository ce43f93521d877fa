import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Decimal, Flag, Id, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { CommitStatus } from './entity.ts'
import { type StatusRow, statusesOf } from './queries.ts'
import { defaultStatusRef, getCommitId, reportStatus, shortRef } from './service.ts'
import { states } from './states.ts'

const sha = Text({ description: 'Hash, full or abbreviated, or name of a branch or tag' })

export const commitStatusRoutes = [
  /** Without a ref: at most one process, the first time, to tell whether the default branch has the commit. */
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
          description: 'Branch or tag; without, the default branch, or any when nothing was said of the commit there',
        }),
      ),
      stage: Optional(Text({ description: 'Of this stage' })),
      name: Optional(Text({ description: 'Of this name' })),
      all: Flag({ default: false, description: 'With those that a later one of the same name stands for' }),
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
      return fetchPage<StatusRow>(ctx.db, statusesOf(subject.id, commit, filters), page)
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
      state: OneOf(states, { description: 'What it is now' }),
      ref: Optional(
        Text({ description: 'Branch or tag; that of its pipeline, or else the first that has it, without' }),
      ),
      name: Optional(Text({ description: 'Tells it from others of the commit; `default` without' })),
      context: Optional(Text({ description: 'The same as name, which wins' })),
      target_url: Optional(Text({ description: 'Where there is more to see; http or https' })),
      description: Optional(Text({ description: 'A few words, 255 characters at most' })),
      coverage: Optional(Decimal({ minimum: 0, maximum: 100, description: 'Code covered by tests, in per cent' })),
      pipeline_id: Optional(
        Id({ description: 'Which of several pipelines of the commit; a new one when there is none' }),
      ),
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
