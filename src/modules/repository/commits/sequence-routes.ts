import { Type } from 'typebox'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/entity.ts'
import { Flag, Params, Text } from '../../../api/params/types.ts'
import { countCommits } from '../../../git/history/history.ts'
import { openRepository, project } from '../../projects/index.ts'
import { getCommit } from './revision.ts'

const CommitSequence = entity({
  name: 'CommitSequence',
  schema: Type.Object({ count: Type.Integer({ description: 'Number of commits in its history, including itself' }) }),
  present: (count: number) => ({ count }),
})

export const commitSequenceRoutes = [
  /** One walk of the history, cached. */
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/commits/:sha/sequence',
    summary: 'Get the sequence of a commit',
    description: 'Returns the number of commits in its history.',
    subject: project,
    allow: 'read_code',
    params: Params({
      sha: Text({ description: 'Full or abbreviated commit hash, or branch or tag name' }),
      first_parent: Flag({ default: false, description: 'Follow only the first parent of merge commits' }),
    }),
    returns: CommitSequence,
    async handle({ subject, params, ctx }) {
      const repo = openRepository(ctx, subject)
      const { oid } = await getCommit(repo, params.sha)
      return countCommits(repo, { from: [oid], firstParent: params.first_parent })
    },
  }),
]
