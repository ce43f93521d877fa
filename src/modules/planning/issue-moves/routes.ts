import { endpoint } from '../../../api/endpoint.ts'
import { Flag, Id, Params } from '../../../api/params/types.ts'
import { getIssue } from '../issues/detail.ts'
import { Issue } from '../issues/entity.ts'
import { namedIssue } from '../issues/subject.ts'
import { cloneIssue, moveIssue } from './service.ts'

export const issueMoveRoutes = [
  endpoint({
    method: 'POST',
    path: '/projects/:id/issues/:issue_iid/move',
    summary: 'Move an issue',
    description:
      'Returns the new issue, with notes, awards, labels and milestone of the same titles, events, logged time and uploads of the old one, which is closed.',
    subject: namedIssue,
    allow: 'read_issue',
    params: Params({ to_project_id: Id({ description: 'ID of the project to move to' }) }),
    returns: Issue,
    async handle({ subject, params, ctx }) {
      const { target, id } = await moveIssue(ctx, subject, params.to_project_id)
      return getIssue(ctx, target, id)
    },
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/issues/:issue_iid/clone',
    summary: 'Clone an issue',
    description: 'Returns a new issue of the caller with the attributes of the old one, which stays as it is.',
    subject: namedIssue,
    allow: 'read_issue',
    params: Params({
      to_project_id: Id({ description: 'ID of the project of the clone; may be the same' }),
      with_notes: Flag({ default: false, description: 'Copy the comments, too' }),
    }),
    returns: Issue,
    async handle({ subject, params, ctx }) {
      const { target, id } = await cloneIssue(ctx, subject, {
        toProjectId: params.to_project_id,
        withNotes: params.with_notes,
      })
      return getIssue(ctx, target, id)
    },
  }),
]
