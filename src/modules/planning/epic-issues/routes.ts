import { endpoint } from '../../../api/endpoint.ts'
import { Id, Optional, Params } from '../../../api/params/types.ts'
import { epic } from '../epics/subject.ts'
import { EpicIssueLink, IssueOfEpic } from './entity.ts'
import { addIssue, issuesPage, placeIssue, removeIssue } from './service.ts'

const path = '/groups/:id/epics/:epic_iid/issues'
const tier = 'ultimate'
const epic_issue_id = Id({ description: 'ID of the link between epic and issue' })

export const epicIssueRoutes = [
  endpoint({
    method: 'GET',
    path,
    summary: 'List issues of an epic',
    description: 'Returns those that the caller may read, in their order.',
    tier,
    subject: epic,
    allow: 'read_epic',
    paged: true,
    returns: IssueOfEpic,
    handle: ({ subject, page, ctx }) => issuesPage(ctx, subject, page),
  }),

  endpoint({
    method: 'POST',
    path: `${path}/:epic_issue_id`,
    summary: 'Add an issue to an epic',
    description:
      'The group of the epic must be above the project of the issue. An issue belongs to one epic: it leaves another one.',
    tier,
    subject: epic,
    allow: 'update_epic',
    params: Params({ epic_issue_id: Id({ description: 'ID of the issue, neither its number nor that of a link' }) }),
    returns: EpicIssueLink,
    handle: ({ subject, params, ctx }) => addIssue(ctx, subject, params.epic_issue_id),
  }),

  endpoint({
    method: 'PUT',
    path: `${path}/:epic_issue_id`,
    summary: 'Update position of an issue',
    description: 'Returns the first page of the issues of the epic in their new order.',
    tier,
    subject: epic,
    allow: 'update_epic',
    params: Params(
      {
        epic_issue_id,
        move_before_id: Optional(Id({ description: 'ID of the link of the issue that comes before it' })),
        move_after_id: Optional(Id({ description: 'ID of the link of the issue that comes after it' })),
      },
      { atLeastOneValueOf: ['move_before_id', 'move_after_id'] },
    ),
    paged: true,
    returns: IssueOfEpic,
    async handle({ subject, params, page, ctx }) {
      const next = { before: params.move_before_id, after: params.move_after_id }
      await placeIssue(ctx, subject, params.epic_issue_id, next)
      return issuesPage(ctx, subject, page)
    },
  }),

  endpoint({
    method: 'DELETE',
    path: `${path}/:epic_issue_id`,
    summary: 'Remove an issue from an epic',
    description: 'Returns the link that was removed.',
    tier,
    status: 200,
    subject: epic,
    allow: 'update_epic',
    params: Params({ epic_issue_id }),
    returns: EpicIssueLink,
    handle: ({ subject, params, ctx }) => removeIssue(ctx, subject, params.epic_issue_id),
  }),
]
