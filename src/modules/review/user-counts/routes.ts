import { Type } from 'typebox'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/entity.ts'
import { instance } from '../../instance/index.ts'
import { countAssigned } from '../../planning/index.ts'

const UserCounts = entity({
  name: 'UserCounts',
  schema: Type.Object({
    merge_requests: Type.Integer({ description: 'Number of open merge requests assigned to the caller' }),
    assigned_issues: Type.Integer({ description: 'Number of open issues assigned to the caller' }),
  }),
  present: (row: { merge_requests: number; assigned_issues: number }) => row,
})

export const userCountRoutes = [
  endpoint({
    method: 'GET',
    path: '/user_counts',
    summary: 'Get work counts of the caller',
    scopes: ['read_user'],
    subject: instance,
    allow: 'use',
    returns: UserCounts,
    async handle({ ctx: { db, actor } }) {
      const [mergeRequests, issues] = await Promise.all([
        countAssigned(db, 'MergeRequest', actor!),
        countAssigned(db, 'Issue', actor!),
      ])
      return { merge_requests: mergeRequests, assigned_issues: issues }
    },
  }),
]
