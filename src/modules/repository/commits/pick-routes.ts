import { as, endpoint, variants } from '../../../api/endpoint.ts'
import { Filled, Flag, Optional, Params, Text } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { DryRun } from './dry-run.ts'
import { Commit } from './entity.ts'
import { cherryPickOf, revertOf } from './pick.ts'
import { pickOnto } from './pick-service.ts'
import { maxMessageLength } from './write-params.ts'

const pickParams = {
  sha: Text({ description: 'Full or abbreviated commit hash, or branch or tag name' }),
  branch: Filled({ description: 'Branch to commit to' }),
  dry_run: Flag({ default: false, description: 'Check without creating the commit' }),
} as const

const shared = {
  method: 'POST',
  subject: project,
  allow: 'request_commit',
  returns: variants(Commit, DryRun),
} as const

export const pickRoutes = [
  endpoint({
    ...shared,
    path: '/projects/:id/repository/commits/:sha/cherry_pick',
    summary: 'Cherry-pick a commit',
    description: 'Applies the change of the commit to a branch.',
    params: Params({
      ...pickParams,
      message: Optional(
        Text({ maxLength: maxMessageLength, description: 'Commit message; default: the message of the commit' }),
      ),
    }),
    async handle({ subject, params, ctx }) {
      const commit = await pickOnto(ctx, subject, params, (repo, picked) =>
        cherryPickOf(ctx, subject.id, repo, picked, params.message || undefined),
      )
      return params.dry_run ? as(DryRun, undefined) : as(Commit, { commit, project: subject })
    },
  }),

  endpoint({
    ...shared,
    path: '/projects/:id/repository/commits/:sha/revert',
    summary: 'Revert a commit',
    description: 'Commits the reverse change to a branch.',
    params: Params(pickParams),
    async handle({ subject, params, ctx }) {
      const commit = await pickOnto(ctx, subject, params, (repo, picked) => revertOf(ctx, subject.id, repo, picked))
      return params.dry_run ? as(DryRun, undefined) : as(Commit, { commit, project: subject })
    },
  }),
]
