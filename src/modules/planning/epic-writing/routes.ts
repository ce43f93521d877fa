import { endpoint } from '../../../api/endpoint.ts'
import { CommaList, Filled, OneOf, Optional, Params, Text, Timestamp } from '../../../api/params/types.ts'
import { group } from '../../groups/index.ts'
import { getEpic } from '../epics/detail.ts'
import { Epic } from '../epics/entity.ts'
import { attributeParams, namedOnce } from '../epics/params.ts'
import { removeEpic } from '../epics/service.ts'
import { epic, namedEpic } from '../epics/subject.ts'
import { createDescribed, editDescribed } from './described.ts'

const tier = 'ultimate'

export const epicRoutes = [
  endpoint({
    method: 'POST',
    path: '/groups/:id/epics',
    summary: 'Create an epic',
    description: 'Quick actions in the description, such as `/label ~bug`, are applied and removed from it.',
    tier,
    subject: group,
    allow: 'create_epic',
    params: Params({
      title: Text({ description: 'Title of the epic' }),
      ...attributeParams,
      created_at: Optional(Timestamp({ description: 'Creation time; only for owners' })),
    }),
    returns: Epic,
    handle: async ({ subject, params, ctx }) => getEpic(ctx, await createDescribed(ctx, subject, namedOnce(params))),
  }),

  endpoint({
    method: 'GET',
    path: '/groups/:id/epics/:epic_iid',
    summary: 'Get an epic',
    tier,
    subject: epic,
    allow: 'read_epic',
    returns: Epic,
    handle: ({ subject, ctx }) => getEpic(ctx, subject.id),
  }),

  endpoint({
    method: 'PUT',
    path: '/groups/:id/epics/:epic_iid',
    summary: 'Update an epic',
    description:
      '`state_event` closes or reopens it. Quick actions in the description are applied and removed from it.',
    tier,
    subject: epic,
    allow: 'update_epic',
    params: Params(
      {
        ...attributeParams,
        title: Optional(Filled({ description: 'Title of the epic' })),
        state_event: Optional(OneOf(['close', 'reopen'], { description: 'Event that changes the state' })),
        add_labels: Optional(CommaList(Text(), { description: 'Titles of labels to add' })),
        remove_labels: Optional(CommaList(Text(), { description: 'Titles of labels to remove' })),
        updated_at: Optional(Timestamp({ description: 'Time of the change; only for owners' })),
      },
      {
        atLeastOneOf: [
          'title',
          'description',
          'confidential',
          'labels',
          'add_labels',
          'remove_labels',
          'state_event',
          'start_date_is_fixed',
          'start_date_fixed',
          'due_date_is_fixed',
          'due_date_fixed',
          'start_date',
          'end_date',
          'parent_id',
        ],
      },
    ),
    returns: Epic,
    async handle({ subject, params, ctx }) {
      await editDescribed(ctx, subject, namedOnce(params))
      return getEpic(ctx, subject.id)
    },
  }),

  endpoint({
    method: 'DELETE',
    path: '/groups/:id/epics/:epic_iid',
    summary: 'Delete an epic',
    description: 'Its issues and child epics remain.',
    tier,
    subject: namedEpic,
    allow: 'remove_epic',
    changedAt: ({ updated_at }) => updated_at,
    returns: null,
    handle: ({ subject, ctx }) => removeEpic(ctx, subject),
  }),
]
