import { Type } from 'typebox'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/entity.ts'
import { fetchPage } from '../../../api/page.ts'
import { UserListItem, userReferenceRow } from '../../accounts/index.ts'
import { participantsOf } from '../../discussion/index.ts'
import { instance } from '../../instance/index.ts'
import { countAssigned } from '../../planning/index.ts'
import { asNoteable } from './noteable.ts'
import { mergeRequest } from './subject.ts'

const UserCounts = entity({
  name: 'UserCounts',
  schema: Type.Object({
    merge_requests: Type.Integer({ description: 'Number of open merge requests assigned to the caller' }),
    assigned_issues: Type.Integer({ description: 'Number of open issues assigned to the caller' }),
  }),
  present: (row: { merge_requests: number; assigned_issues: number }) => row,
})

export const mergeRequestPeopleRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/merge_requests/:merge_request_iid/participants',
    summary: 'List merge request participants',
    description: 'Returns the author, assignees, reviewers, commenters and mentioned users.',
    subject: mergeRequest,
    allow: 'read_merge_request',
    paged: true,
    returns: UserListItem,
    handle: ({ subject, page, ctx }) =>
      fetchPage(
        ctx.db,
        userReferenceRow,
        participantsOf({ ...asNoteable(subject), author_id: subject.author_id }),
        page,
      ),
  }),

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
