import { endpoint } from '../../../api/endpoint.ts'
import { Id, Optional, Params, Text, Timestamp } from '../../../api/params/types.ts'
import { project } from '../../projects/index.ts'
import { getIssue } from './detail.ts'
import { Issue } from './entity.ts'
import { attributeParams, namedOnce } from './params.ts'
import { createIssue } from './service.ts'
import { issue } from './subject.ts'

export const issueRoutes = [
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
    }),
    returns: Issue,
    async handle({ subject, params, ctx }) {
      return getIssue(ctx, subject, await createIssue(ctx, subject, withoutNulls(namedOnce(params))))
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
