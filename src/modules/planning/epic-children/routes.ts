import { endpoint } from '../../../api/endpoint.ts'
import { Flag, Id, Optional, Params, Text } from '../../../api/params/types.ts'
import { Epic } from '../epics/entity.ts'
import { epic } from '../epics/subject.ts'
import { addChild, childrenPage, createChild, placeChild, removeChild } from './service.ts'

const tier = 'ultimate'
const child_epic_id = Id({ description: 'ID of the child epic, not its number' })

const routesAt = <P extends `/groups/:id/epics/:epic_iid/${string}`>(path: P) => [
  endpoint({
    method: 'GET',
    path,
    summary: 'List child epics',
    description: 'Returns those that the caller may read, in their order.',
    tier,
    subject: epic,
    allow: 'read_epic',
    paged: true,
    returns: Epic,
    handle: ({ subject, page, ctx }) => childrenPage(ctx, subject, page),
  }),

  endpoint({
    method: 'POST',
    path,
    summary: 'Create a child epic',
    description: 'The new epic belongs to the same group.',
    tier,
    subject: epic,
    allow: 'update_epic',
    params: Params({
      title: Text({ description: 'Title of the new epic' }),
      confidential: Optional(
        Flag({ description: 'Only the author and members from reporters on can read the new epic' }),
      ),
    }),
    returns: Epic,
    handle: ({ subject, params, ctx }) => createChild(ctx, subject, params),
  }),

  endpoint({
    method: 'POST',
    path: `${path}/:child_epic_id`,
    summary: 'Add a child epic',
    description:
      'The group of the child must be the group of the epic or below it. An epic has one parent: it leaves another one.',
    tier,
    subject: epic,
    allow: 'update_epic',
    params: Params({ child_epic_id }),
    returns: Epic,
    handle: ({ subject, params, ctx }) => addChild(ctx, subject, params.child_epic_id),
  }),

  endpoint({
    method: 'PUT',
    path: `${path}/:child_epic_id`,
    summary: 'Update position of a child epic',
    description: 'Returns the first page of the child epics in their new order.',
    tier,
    subject: epic,
    allow: 'update_epic',
    params: Params(
      {
        child_epic_id,
        move_before_id: Optional(Id({ description: 'ID of the child epic that comes before it' })),
        move_after_id: Optional(Id({ description: 'ID of the child epic that comes after it' })),
      },
      { atLeastOneValueOf: ['move_before_id', 'move_after_id'] },
    ),
    paged: true,
    returns: Epic,
    async handle({ subject, params, page, ctx }) {
      const next = { before: params.move_before_id, after: params.move_after_id }
      await placeChild(ctx, subject, params.child_epic_id, next)
      return childrenPage(ctx, subject, page)
    },
  }),

  endpoint({
    method: 'DELETE',
    path: `${path}/:child_epic_id`,
    summary: 'Remove a child epic',
    description: 'Returns the epic, which remains without a parent.',
    tier,
    status: 200,
    subject: epic,
    allow: 'update_epic',
    params: Params({ child_epic_id }),
    returns: Epic,
    handle: ({ subject, params, ctx }) => removeChild(ctx, subject, params.child_epic_id),
  }),
]

/** Compat: client libraries use either path for the same calls. */
export const epicChildRoutes = [
  ...routesAt('/groups/:id/epics/:epic_iid/epics'),
  ...routesAt('/groups/:id/epics/:epic_iid/links'),
]
