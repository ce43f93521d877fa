import { endpoint } from '../../../api/endpoint.ts'
import { Id, Optional, Params, Text, Timestamp } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { getIssue } from './detail.ts'
import { Issue } from './entity.ts'
import type { FindFollowUp } from './follow-up.ts'
import { attributeParams, namedOnce } from './params.ts'
import { createIssue } from './service.ts'
import { issue } from './subject.ts'

export const issueRoutes = (findFollowUp: FindFollowUp) => [
  endpoint({
    method: 'POST',
    path: '/projects/:id/issues',
    summary: 'Create an issue',
    subject: project,
    allow: 'create_issue',
    params: Params({
      title: Text({ description: 'Title of the issue' }),
      ...attributeParams,
      iid: Optional(Id({ description: 'Number within the project; only for owners' })),
      created_at: Optional(Timestamp({ description: 'Creation time; only for owners' })),
      merge_request_to_resolve_discussions_of: Optional(
        Id({
          description:
            'Number of a merge request of the project: its discussions are resolved, and the description lists them unless one is given',
        }),
      ),
      discussion_to_resolve: Optional(
        Text({ description: 'ID of the only discussion of that merge request to resolve' }),
      ),
    }),
    returns: Issue,
    async handle({ subject, params, ctx }) {
      const {
        merge_request_to_resolve_discussions_of: mergeRequestIid,
        discussion_to_resolve: discussionId,
        ...given
      } = params
      const followUp =
        mergeRequestIid === undefined ? undefined : await findFollowUp(ctx, subject, { mergeRequestIid, discussionId })
      const input = { ...(followUp && { description: followUp.description }), ...withoutNulls(namedOnce(given)) }
      return getIssue(ctx, subject, await createIssue(ctx, subject, input, followUp))
    },
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/issues/:issue_iid',
    summary: 'Get an issue',
    subject: issue,
    allow: 'read_issue',
    returns: Issue,
    handle: ({ subject, ctx }) => getIssue(ctx, subject.project, subject.id),
  }),
]

/** Null stands for no value. */
const withoutNulls = <T extends object>(input: T): { [K in keyof T]: Exclude<T[K], null> } =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null)) as never
