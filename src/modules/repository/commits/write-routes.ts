import { endpoint } from '../../../api/endpoint.ts'
import { Filled, Flag, IdOrName, Optional, Params, Text } from '../../../api/params/types.ts'
import { commitStats } from '../../../git/history/changes.ts'
import { openRepository, project } from '../../projects/index.ts'
import { actionsParam } from './actions.ts'
import { CommitDetail } from './entity.ts'
import { pathBefore } from './file-actions.ts'
import { findStartProject } from './start-project.ts'
import { authorParams, maxContentBytes, maxMessageLength } from './write-params.ts'
import { createCommit } from './write-service.ts'

export const commitWriteRoutes = [
  endpoint({
    method: 'POST',
    path: '/projects/:id/repository/commits',
    summary: 'Create a commit',
    description: 'Commits several changes of files at once.',
    subject: project,
    allow: 'request_commit',
    bodyLimit: maxContentBytes,
    params: Params(
      {
        branch: Filled({ description: 'Branch to commit to; a new branch requires `start_branch` or `start_sha`' }),
        commit_message: Filled({ maxLength: maxMessageLength, description: 'Message of the commit' }),
        start_branch: Optional(Text({ description: 'Branch from which to create a new one' })),
        start_sha: Optional(Text({ description: 'Commit from which to create the branch' })),
        start_project: Optional(IdOrName({ description: 'ID of a project of the same fork network to start from' })),
        actions: actionsParam,
        ...authorParams,
        stats: Flag({ default: true, description: 'Include counts of added and removed lines' }),
        force: Flag({
          default: false,
          description: 'Overwrite the branch with a new commit based on the start branch',
        }),
      },
      { mutuallyExclusive: [['start_branch', 'start_sha']] },
    ),
    returns: CommitDetail,
    async handle({ subject, params, ctx }) {
      const startProject = await findStartProject(ctx, subject, params.start_project)
      const commit = await createCommit(ctx, {
        project: subject,
        branch: params.branch,
        start: {
          ...(params.start_branch && { branch: params.start_branch }),
          ...(params.start_sha && { sha: params.start_sha }),
          ...(startProject && { other: { id: startProject.id, repo: openRepository(ctx, startProject) } }),
          force: params.force,
        },
        actions: params.actions,
        message: params.commit_message,
        author: { name: params.author_name, email: params.author_email },
        refusal: 'forbidden',
        counted: params.stats,
        stale: (action) => `The file has changed since you started editing it: ${pathBefore(action)}`,
      })
      const stats = params.stats && (await commitStats(openRepository(ctx, subject), commit.oid))
      return { commit, project: subject, ...(stats && { stats }) }
    },
  }),
]
