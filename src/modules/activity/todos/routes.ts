import { endpoint, unchanged } from '../../../api/endpoint.ts'
import { Id, OneOf, Optional, Params } from '../../../api/params/types.ts'
import { todoActions } from '../../discussion/index.ts'
import { instance } from '../../instance/index.ts'
import { epic, epicAsNoteable, issue, issueAsNoteable } from '../../planning/index.ts'
import { asNoteable, mergeRequest } from '../../review/index.ts'
import { Todo } from './entity.ts'
import { finishEverything, finishOne, markTodo, todosPage } from './service.ts'

/** Types of targets by their API names, of which the service has issues, merge requests, epics and commits. */
const targetTypes = [
  'Issue',
  'MergeRequest',
  'Commit',
  'Epic',
  'DesignManagement::Design',
  'AlertManagement::Alert',
] as const

const epicTodoAt = (path: `/groups/:id/epics/:epic_iid/${string}`) =>
  endpoint({
    method: 'POST',
    path,
    summary: 'Create an epic todo',
    tier: 'ultimate',
    subject: epic,
    allow: 'read_epic',
    params: Params({}),
    unchanged: 'The todo already exists',
    returns: Todo,
    handle: async ({ subject, ctx }) => (await markTodo(ctx, epicAsNoteable(subject))) ?? unchanged,
  })

export const todoRoutes = [
  endpoint({
    method: 'GET',
    path: '/todos',
    summary: 'List todos of the caller',
    description: 'Newest first.',
    subject: instance,
    allow: 'use',
    params: Params({
      action: Optional(OneOf(todoActions, { description: 'Reason of the todo' })),
      author_id: Optional(Id({ description: 'User ID of the author' })),
      project_id: Optional(Id({ description: 'Only of this project' })),
      group_id: Optional(Id({ description: 'Only of this group, its subgroups and their projects' })),
      state: OneOf(['pending', 'done'], { default: 'pending', description: 'Only todos in this state' }),
      type: Optional(
        OneOf(targetTypes, {
          description: 'Kind of the target; only `Issue`, `MergeRequest`, `Epic` and `Commit` have todos',
        }),
      ),
    }),
    paged: true,
    returns: Todo,
    handle: ({ params, page, ctx }) => todosPage(ctx, params, page),
  }),

  endpoint({
    method: 'POST',
    path: '/todos/:id/mark_as_done',
    summary: 'Mark a todo as done',
    subject: instance,
    allow: 'use',
    params: Params({ id: Id({ description: 'ID of the todo' }) }),
    returns: Todo,
    handle: ({ params, ctx }) => finishOne(ctx, params.id),
  }),

  endpoint({
    method: 'POST',
    path: '/todos/mark_as_done',
    summary: 'Mark all todos as done',
    subject: instance,
    allow: 'use',
    returns: null,
    handle: ({ ctx }) => finishEverything(ctx),
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/merge_requests/:merge_request_iid/todo',
    summary: 'Create a merge request todo',
    subject: mergeRequest,
    allow: 'read_merge_request',
    params: Params({}),
    unchanged: 'The todo already exists',
    returns: Todo,
    handle: async ({ subject, ctx }) => (await markTodo(ctx, asNoteable(subject))) ?? unchanged,
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/issues/:issue_iid/todo',
    summary: 'Create an issue todo',
    subject: issue,
    allow: 'read_issue',
    params: Params({}),
    unchanged: 'The todo already exists',
    returns: Todo,
    handle: async ({ subject, ctx }) => (await markTodo(ctx, issueAsNoteable(subject))) ?? unchanged,
  }),

  // Compat: client libraries use either path.
  epicTodoAt('/groups/:id/epics/:epic_iid/todo'),
  epicTodoAt('/groups/:id/epics/:epic_iid/todos'),
]
