import { endpoint, variants } from '../../../api/endpoint.ts'
import { group } from '../../groups/index.ts'
import { instance } from '../../instance/index.ts'
import { placeOfGroup, placeOfProject } from '../../planning/index.ts'
import { project } from '../../projects/index.ts'
import { MergeRequest, MergeRequestSimple } from '../merge-requests/entity.ts'
import { mergeRequestsPage } from './list.ts'
import { allParams, groupParams, projectParams } from './list-params.ts'

const returns = variants(MergeRequest, MergeRequestSimple)

export const mergeRequestListRoutes = [
  endpoint({
    method: 'GET',
    path: '/merge_requests',
    summary: 'List merge requests',
    description: 'Returns those the caller created, unless `scope` is given.',
    subject: instance,
    allow: 'use',
    params: allParams,
    paged: true,
    returns,
    handle: ({ params, page, ctx }) => mergeRequestsPage(ctx, { of: 'everyone' }, params, page),
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/merge_requests',
    summary: 'List merge requests of a project',
    description: 'Returns merge requests whose target is the project.',
    subject: project,
    allow: 'read_merge_request',
    params: projectParams,
    paged: true,
    returns,
    handle: ({ subject, params, page, ctx }) => mergeRequestsPage(ctx, placeOfProject(subject), params, page),
  }),

  endpoint({
    method: 'GET',
    path: '/groups/:id/merge_requests',
    summary: 'List merge requests of a group',
    description: 'Includes the projects of all subgroups.',
    subject: group,
    allow: 'list_merge_requests',
    params: groupParams,
    paged: true,
    returns,
    handle: ({ subject, params, page, ctx }) =>
      mergeRequestsPage(ctx, placeOfGroup(subject, { archived: !params.non_archived }), params, page),
  }),
]
