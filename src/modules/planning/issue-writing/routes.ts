import { endpoint } from '../../../api/endpoint.ts'
import { CommaList, Filled, Id, OneOf, Optional, Params, Text, Timestamp, Whole } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { getIssue } from '../issues/detail.ts'
import { Issue } from '../issues/entity.ts'
import type { FindFollowUp } from '../issues/follow-up.ts'
import { attributeParams, namedOnce } from '../issues/params.ts'
import { removeIssue } from '../issues/remove.ts'
import { issue, namedIssue } from '../issues/subject.ts'
import { render_html } from '../rendered-texts/rendered.ts'
import { createDescribed, editDescribed } from './described.ts'

export const issueRoutes = (findFollowUp: FindFollowUp) => [
  endpoint({
    method: 'POST',
    path: '/projects/:id/issues',
    summary: 'Create an issue',
    description: 'Quick actions in the description, such as `/label ~bug`, are applied and removed from it.',
    subject: project,
    allow: 'create_issue',
    params: Params({
      title: Text({ description: 'Title of the issue' }),
      ...attributeParams,
      // As in archives: it leaves room for the next ones.
      iid: Optional(
        Whole({ minimum: 1, maximum: 1_000_000_000, description: 'Number within the project; only for owners' }),
      ),
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
      return getIssue(ctx, subject, await createDescribed(ctx, subject, input, followUp))
    },
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/issues/:issue_iid',
    summary: 'Get an issue',
    subject: issue,
    allow: 'read_issue',
    params: Params({ render_html }),
    returns: Issue,
    handle: ({ subject, params, ctx }) =>
      getIssue(ctx, subject.project, subject.id, { renderHtml: params.render_html }),
  }),

  endpoint({
    method: 'PUT',
    path: '/projects/:id/issues/:issue_iid',
    summary: 'Update an issue',
    description:
      '`state_event` closes or reopens it. Attributes that the caller may not change are ignored. Quick actions in the description are applied and removed from it.',
    subject: issue,
    allow: 'update_issue',
    params: Params(
      {
        ...attributeParams,
        title: Optional(Filled({ description: 'Title of the issue' })),
        state_event: Optional(OneOf(['close', 'reopen'], { description: 'Event that changes the state' })),
        add_labels: Optional(CommaList(Text(), { description: 'Titles of labels to add' })),
        remove_labels: Optional(CommaList(Text(), { description: 'Titles of labels to remove' })),
        created_at: Optional(Timestamp({ description: 'Creation time; only for owners' })),
        updated_at: Optional(Timestamp({ description: 'Time of the change; only for owners' })),
      },
      {
        atLeastOneOf: [
          'assignee_id',
          'assignee_ids',
          'confidential',
          'created_at',
          'description',
          'discussion_locked',
          'due_date',
          'labels',
          'add_labels',
          'remove_labels',
          'milestone_id',
          'state_event',
          'title',
          'weight',
          'epic_id',
          'epic_iid',
        ],
      },
    ),
    returns: Issue,
    async handle({ subject, params, ctx }) {
      await editDescribed(ctx, subject, namedOnce(params))
      return getIssue(ctx, subject.project, subject.id)
    },
  }),

  endpoint({
    method: 'DELETE',
    path: '/projects/:id/issues/:issue_iid',
    summary: 'Delete an issue',
    subject: namedIssue,
    allow: 'remove_issue',
    changedAt: ({ updated_at }) => updated_at,
    returns: null,
    handle: ({ subject, ctx }) => removeIssue(ctx, subject),
  }),
]

/** Null stands for no value. */
const withoutNulls = <T extends object>(input: T): { [K in keyof T]: Exclude<T[K], null> } =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null)) as never
