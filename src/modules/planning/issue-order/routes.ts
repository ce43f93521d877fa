import { endpoint } from '../../../api/endpoint.ts'
import { Id, Optional, Params } from '../../../api/params/types.ts'
import { getIssue } from '../issues/detail.ts'
import { Issue } from '../issues/entity.ts'
import { issue } from '../issues/subject.ts'
import { reorderIssue } from './service.ts'

export const issueOrderRoutes = [
  endpoint({
    method: 'PUT',
    path: '/projects/:id/issues/:issue_iid/reorder',
    summary: 'Update the position of an issue',
    description:
      'Lists ordered by `relative_position` and boards show the order, which spans all projects below a top-level group. The other issues may belong to any of them. The caller must be allowed to update them.',
    subject: issue,
    allow: 'update_issue',
    params: Params(
      {
        move_after_id: Optional(Id({ description: 'ID of the issue that comes after this issue' })),
        move_before_id: Optional(Id({ description: 'ID of the issue that comes before this issue' })),
      },
      { atLeastOneValueOf: ['move_after_id', 'move_before_id'] },
    ),
    returns: Issue,
    async handle({ subject, params, ctx }) {
      await reorderIssue(ctx, subject, { before: params.move_before_id, after: params.move_after_id })
      return getIssue(ctx, subject.project, subject.id)
    },
  }),
]
