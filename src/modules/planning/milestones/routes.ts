import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { DateOnly, Flag, Id, List, Nullable, OneOf, Optional, Params, Text, Whole } from '../../../api/params/types.ts'
import { ofProjectsAndGroups } from '../../groups/index.ts'
import { project } from '../../projects/index.ts'
import { Milestone } from './entity.ts'
import { datedMilestoneRow, milestoneStates, milestonesOf } from './queries.ts'
import { createMilestone, editMilestone, getMilestone, promoteMilestone, removeMilestone } from './service.ts'

const milestone_id = Id({ description: 'ID of the milestone' })
const title = Text({ description: 'Title of the milestone' })
const attributes = {
  description: Optional(Nullable(Text({ description: 'Description of the milestone' }))),
  start_date: Optional(Nullable(DateOnly({ description: 'First day of the milestone' }))),
  due_date: Optional(Nullable(DateOnly({ description: 'Due date, not before the start date' }))),
}
const changes = {
  title: Optional(title),
  ...attributes,
  state_event: Optional(OneOf(['close', 'activate'], { description: 'Event that changes the state' })),
}

export const milestoneRoutes = [
  ...ofProjectsAndGroups(({ of, base, subject, holderOf }) => {
    const path = `${base}/milestones` as const
    return [
      endpoint({
        method: 'GET',
        path,
        summary: `List milestones of a ${of}`,
        description: 'Newest first.',
        subject,
        allow: 'read_milestone',
        params: Params({
          iids: Optional(List(Whole(), { description: 'Only with these numbers' })),
          state: OneOf([...milestoneStates, 'all'], { default: 'all', description: 'Only in this state' }),
          title: Optional(Text({ description: 'Only the milestone of this title' })),
          search: Optional(Text({ description: 'Part of title or description' })),
          include_parent_milestones: Flag({ default: false, description: 'Include ancestor groups' }),
        }),
        paged: true,
        returns: Milestone,
        handle: ({ subject: held, params: { include_parent_milestones: ancestors, ...filters }, page, ctx }) =>
          fetchPage(
            ctx.db,
            datedMilestoneRow,
            milestonesOf(holderOf(held), ctx.actor, { ...filters, ancestors }),
            page,
          ),
      }),

      endpoint({
        method: 'GET',
        path: `${path}/:milestone_id`,
        summary: `Get a ${of} milestone`,
        subject,
        allow: 'read_milestone',
        params: Params({ milestone_id }),
        returns: Milestone,
        handle: ({ subject: held, params, ctx }) => getMilestone(ctx, holderOf(held), params.milestone_id),
      }),

      endpoint({
        method: 'POST',
        path,
        summary: `Create a ${of} milestone`,
        subject,
        allow: 'admin_milestone',
        params: Params({ title, ...attributes }),
        returns: Milestone,
        handle: ({ subject: held, params, ctx }) => createMilestone(ctx, holderOf(held), params),
      }),

      endpoint({
        method: 'PUT',
        path: `${path}/:milestone_id`,
        summary: `Update a ${of} milestone`,
        description: '`state_event` closes or activates the milestone.',
        subject,
        allow: 'admin_milestone',
        params: Params(
          { milestone_id, ...changes },
          { atLeastOneOf: Object.keys(changes) as (keyof typeof changes)[] },
        ),
        returns: Milestone,
        handle: ({ subject: held, params: { milestone_id: id, ...input }, ctx }) =>
          editMilestone(ctx, holderOf(held), id, input),
      }),

      endpoint({
        method: 'DELETE',
        path: `${path}/:milestone_id`,
        summary: `Delete a ${of} milestone`,
        subject,
        allow: 'admin_milestone',
        params: Params({ milestone_id }),
        returns: null,
        handle: ({ subject: held, params, ctx }) => removeMilestone(ctx, holderOf(held), params.milestone_id),
      }),
    ]
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/milestones/:milestone_id/promote',
    summary: 'Promote a project milestone',
    description: 'The group milestone replaces all milestones of the same title in the projects of the group.',
    subject: project,
    allow: 'admin_milestone',
    params: Params({ milestone_id }),
    status: 200,
    returns: Milestone,
    handle: ({ subject, params, ctx }) => promoteMilestone(ctx, subject, params.milestone_id),
  }),
]
