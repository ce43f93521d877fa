import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { OneOf, Params } from '../../../api/params/types.ts'
import { instance } from '../../instance/index.ts'
import { SystemHook } from '../hooks/entity.ts'
import type { HookHolder } from '../hooks/holder.ts'
import { hookId, hookInput, hookParams } from '../hooks/params.ts'
import { findHook, hookRow, hooksOf } from '../hooks/queries.ts'
import { createHook, editHook, getHook, removeHook } from '../hooks/service.ts'
import { flagsOf } from '../hooks/triggers.ts'
import { HookEvent, HookReplay, SystemHookTest, TestedSystemHook } from './entity.ts'
import { deliveriesOf, deliveryRow } from './log-queries.ts'
import { logParams } from './routes.ts'
import { exampleProject, replay, resend, testHook, testSystemHook } from './service.ts'

const holder: HookHolder = { of: 'instance' }
const byId = Params({ hook_id: hookId })
const ofAdministrators = { subject: instance, allow: 'admin_hook' } as const

const example = { event_name: 'project_create', ...exampleProject }

/** Hooks of the installation. */
export const systemHookRoutes = [
  endpoint({
    ...ofAdministrators,
    method: 'GET',
    path: '/hooks',
    summary: 'List system hooks',
    description: 'Oldest first.',
    paged: true,
    returns: SystemHook,
    handle: ({ page, ctx }) => fetchPage(ctx.db, hookRow, hooksOf(holder), page),
  }),

  endpoint({
    ...ofAdministrators,
    method: 'POST',
    path: '/hooks',
    summary: 'Create a system hook',
    description: 'It receives events of users, groups, projects, members and keys, and those that its flags say.',
    params: hookParams('system', {}),
    returns: SystemHook,
    handle: ({ params, ctx }) => createHook(ctx, holder, hookInput(params)),
  }),

  endpoint({
    ...ofAdministrators,
    method: 'GET',
    path: '/hooks/:hook_id',
    summary: 'Get and test a system hook',
    description:
      'Compat: sends an event about a project that does not exist. Returns the event, as older clients expect, and the hook, as newer ones do.',
    params: byId,
    returns: TestedSystemHook,
    async handle({ params: { hook_id }, ctx, head }) {
      const hook = await getHook(ctx, holder, hook_id)
      if (!head) await testSystemHook(ctx, holder, hook_id)
      return { hook, event: example }
    },
  }),

  endpoint({
    ...ofAdministrators,
    method: 'POST',
    path: '/hooks/:hook_id',
    summary: 'Test a system hook by POST',
    description: 'Sends an event about a project that does not exist, and returns it.',
    params: byId,
    returns: SystemHookTest,
    async handle({ params: { hook_id }, ctx }) {
      await testSystemHook(ctx, holder, hook_id)
      return example
    },
  }),

  endpoint({
    ...ofAdministrators,
    method: 'PUT',
    path: '/hooks/:hook_id',
    summary: 'Update a system hook',
    description: 'Other absent values stay. Ends a pause of the hook.',
    params: hookParams('system', { hook_id: hookId }),
    returns: SystemHook,
    handle: ({ params: { hook_id, ...input }, ctx }) => editHook(ctx, holder, hook_id, hookInput(input)),
  }),

  endpoint({
    ...ofAdministrators,
    method: 'DELETE',
    path: '/hooks/:hook_id',
    summary: 'Delete a system hook',
    description: 'Nothing more is sent to it. Returns the hook as it was.',
    params: byId,
    changedAt: async (_subject, { hook_id }, ctx) => (await findHook(ctx.db, holder, hook_id))?.updated_at,
    returns: SystemHook,
    handle: ({ params: { hook_id }, ctx }) => removeHook(ctx, holder, hook_id),
  }),

  endpoint({
    ...ofAdministrators,
    method: 'GET',
    path: '/hooks/:hook_id/events',
    summary: 'List deliveries of a system hook',
    description: 'Newest first, of the last seven days.',
    params: logParams.list,
    paged: true,
    returns: HookEvent,
    async handle({ params: { hook_id, state }, page, ctx }) {
      await getHook(ctx, holder, hook_id)
      return fetchPage(ctx.db, deliveryRow, deliveriesOf(hook_id, state), page)
    },
  }),

  endpoint({
    ...ofAdministrators,
    method: 'POST',
    path: '/hooks/:hook_id/events/:event_id/resend',
    summary: 'Resend an event of the instance',
    description: 'With the same ids, also if it was received. Also ends a pause of the hook.',
    params: logParams.resend,
    returns: HookEvent,
    async handle({ params: { hook_id, event_id }, ctx }) {
      await getHook(ctx, holder, hook_id)
      return resend(ctx, hook_id, event_id)
    },
  }),

  endpoint({
    ...ofAdministrators,
    method: 'POST',
    path: '/hooks/:hook_id/replay',
    summary: 'Replay events of a system hook',
    description: 'Sends the events since a time again, in order and with the same ids.',
    params: logParams.replay,
    returns: HookReplay,
    async handle({ params: { hook_id, since }, ctx }) {
      await getHook(ctx, holder, hook_id)
      return replay(ctx, hook_id, since)
    },
  }),

  endpoint({
    ...ofAdministrators,
    method: 'POST',
    path: '/hooks/:hook_id/test/:trigger',
    summary: 'Test a system hook trigger',
    description: 'Sends the newest record of this kind. Responds with 422 without such a record.',
    params: Params({
      hook_id: hookId,
      trigger: OneOf(flagsOf.system, { description: 'Flag whose event is sent' }),
    }),
    returns: HookEvent,
    handle: ({ params: { hook_id, trigger }, ctx }) => testHook(ctx, holder, hook_id, trigger),
  }),
]
