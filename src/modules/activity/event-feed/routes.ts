import type { Ctx } from '../../../api/ctx.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage, type Page, type Paged } from '../../../api/page.ts'
import type { ParamsOf } from '../../../api/params/params-of.ts'
import { DateOnly, OneOf, Optional, Params } from '../../../api/params/types.ts'
import { isPrivateTo, userByIdOrName } from '../../accounts/index.ts'
import { instance } from '../../instance/index.ts'
import { project } from '../../projects/index.ts'
import { Event } from './entity.ts'
import { type FeedRow, type FeedSet, feedOf, feedRow } from './queries.ts'

const actions = [
  'created',
  'updated',
  'closed',
  'reopened',
  'pushed',
  'commented',
  'merged',
  'joined',
  'left',
  'destroyed',
  'expired',
] as const

/** Types of targets by their names in parameters. */
const targetTypes = {
  issue: 'Issue',
  milestone: 'Milestone',
  epic: 'Epic',
  merge_request: 'MergeRequest',
  note: 'Note',
  project: 'Project',
  snippet: 'Snippet',
  user: 'User',
} as const

const params = Params({
  action: Optional(OneOf(actions, { description: 'Action of the event' })),
  target_type: Optional(
    OneOf(Object.keys(targetTypes) as (keyof typeof targetTypes)[], { description: 'Type of the target' }),
  ),
  before: Optional(DateOnly({ description: 'Only events before this day (UTC)' })),
  after: Optional(DateOnly({ description: 'Only events after this day (UTC)' })),
  sort: OneOf(['asc', 'desc'], { default: 'desc', description: 'Sort direction by time; default: desc' }),
})

const feedPage = (
  ctx: Ctx,
  set: FeedSet,
  { target_type, ...filters }: ParamsOf<typeof params>,
  page: Page,
): Promise<Paged<FeedRow>> =>
  fetchPage(
    ctx.db,
    feedRow,
    feedOf(ctx.actor, set, { ...filters, ...(target_type !== undefined && { targetType: targetTypes[target_type] }) }),
    page,
  )

const nothing: Paged<FeedRow> = { rows: [], total: 0, hasNext: false }

export const eventFeedRoutes = [
  endpoint({
    method: 'GET',
    path: '/events',
    summary: 'List events of the caller',
    scopes: ['read_user'],
    subject: instance,
    allow: 'use',
    params,
    paged: true,
    returns: Event,
    handle: ({ params, page, ctx }) => feedPage(ctx, { of: 'author', id: ctx.actor!.id }, params, page),
  }),

  endpoint({
    method: 'GET',
    path: '/users/:user_id/events',
    summary: 'List events of a user',
    description: 'The list of a private profile is empty, except for the user and administrators.',
    scopes: ['read_user'],
    subject: userByIdOrName,
    allow: 'read_user',
    params,
    paged: true,
    returns: Event,
    async handle({ subject, params, page, ctx }) {
      if (isPrivateTo(ctx, subject)) return nothing
      return feedPage(ctx, { of: 'author', id: subject.id }, params, page)
    },
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/events',
    summary: 'List events of a project',
    subject: project,
    allow: 'read_project',
    params,
    paged: true,
    returns: Event,
    handle: ({ subject, params, page, ctx }) => feedPage(ctx, { of: 'project', id: subject.id }, params, page),
  }),
]
