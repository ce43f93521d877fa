import { Type } from 'typebox'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/entity.ts'
import { instance } from '../../instance/index.ts'
import { countAssigned } from './people-queries.ts'

const UserCounts = entity({
  name: 'UserCounts',
  schema: Type.Object({
    merge_requests: Type.Integer({ description: 'Number of open merge requests assigned to the caller' }),
  }),
  present: (row: { merge_requests: number }) => row,
})

export const mergeRequestPeopleRoutes = [
  endpoint({
    method: 'GET',
    path: '/user_counts',
    summary: 'Get work counts of the caller',
    scopes: ['read_user'],
    subject: instance,
    allow: 'use',
    returns: UserCounts,
    handle: async ({ ctx }) => ({ merge_requests: await countAssigned(ctx.db, ctx.actor!) }),
  }),
]
