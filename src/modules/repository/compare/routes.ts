import { endpoint } from '../../../api/endpoint.ts'
import { Filled, Flag, Params } from '../../../api/params/types.ts'
import { openRepository, project } from '../../projects/index.ts'
import { diffLimits } from '../commits/diff-limits.ts'
import { findCommitId } from '../commits/revision.ts'
import { Comparison } from './entity.ts'
import { compare } from './service.ts'

export const compareRoutes = [
  /** Compat: a ref that does not exist gives an empty comparison, as clients of 12.x expect. */
  endpoint({
    method: 'GET',
    path: '/projects/:id/repository/compare',
    summary: 'Compare branches, tags or commits',
    subject: project,
    allow: 'read_code',
    params: Params({
      from: Filled({ description: 'Branch, tag or commit to compare from' }),
      to: Filled({ description: 'Branch, tag or commit to compare' }),
      straight: Flag({ default: false, description: 'Compare both ends directly instead of `to` with the merge base' }),
    }),
    large: 'difference',
    returns: Comparison,
    async handle({ subject, params, ctx }) {
      const repo = openRepository(ctx, subject)
      const [from, to] = await Promise.all([findCommitId(repo, params.from), findCommitId(repo, params.to)])
      if (!from || !to) return { project: subject, commits: [], files: [], cut: false, sameRef: undefined }
      return {
        project: subject,
        ...(await compare(repo, from, to, { ...params, ...diffLimits(ctx.settings) })),
        sameRef: from === to,
      }
    },
  }),
]
