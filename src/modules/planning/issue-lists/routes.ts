import type { Ctx } from '../../../api/ctx.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { group } from '../../groups/index.ts'
import { instance } from '../../instance/index.ts'
import { project } from '../../projects/index.ts'
import { placeOfGroup, placeOfProject } from '../filters/places.ts'
import { Issue } from '../issues/entity.ts'
import { findIssues, type IssueQuery } from './list.ts'
import { allParams, filtersOf, groupParams, type ListInput, orderOf, projectParams } from './params.ts'

const queryOf = (params: ListInput, ctx: Ctx): IssueQuery => ({
  filters: filtersOf(params, ctx.plan),
  order: orderOf(params),
  labelDetails: params.with_labels_details,
  renderHtml: params.render_html,
})

export const issueListRoutes = [
  endpoint({
    method: 'GET',
    path: '/issues',
    summary: 'List issues',
    description: 'Returns those the caller created, unless `scope` is given.',
    subject: instance,
    allow: 'use',
    params: allParams,
    paged: true,
    returns: Issue,
    handle: ({ params, page, ctx }) => findIssues(ctx, { of: 'everyone' }, queryOf(params, ctx), page),
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/issues',
    summary: 'List issues of a project',
    subject: project,
    allow: 'read_issue',
    params: projectParams,
    paged: true,
    returns: Issue,
    handle: ({ subject, params, page, ctx }) => findIssues(ctx, placeOfProject(subject), queryOf(params, ctx), page),
  }),

  endpoint({
    method: 'GET',
    path: '/groups/:id/issues',
    summary: 'List issues of a group',
    description: 'Includes the projects of all subgroups.',
    subject: group,
    allow: 'list_issues',
    params: groupParams,
    paged: true,
    returns: Issue,
    handle: ({ subject, params, page, ctx }) =>
      findIssues(ctx, placeOfGroup(subject, { archived: !params.non_archived }), queryOf(params, ctx), page),
  }),
]
