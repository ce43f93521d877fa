import { endpoint } from '../../../api/endpoint.ts'
import type { Entity } from '../../../api/entity.ts'
import { fetchPage } from '../../../api/page.ts'
import { Params } from '../../../api/params/types.ts'
import { ofProjectsAndGroups } from '../../groups/index.ts'
import { GroupHook, ProjectHook } from './entity.ts'
import type { HookHolder } from './holder.ts'
import { hookId, hookInput, hookParams } from './params.ts'
import { findHook, type HookRow, hookRow, hooksOf } from './queries.ts'
import { createHook, editHook, getHook, removeHook } from './service.ts'

/** Hooks of projects, and of groups, which receive the events of all projects below the group. */
export const hookRoutes = ofProjectsAndGroups(({ of, base, subject, holderOf }) => {
  const path = `${base}/hooks` as const
  const Hook = (of === 'project' ? ProjectHook : GroupHook) as Entity<HookRow>
  const holder = (held: Parameters<typeof holderOf>[0]) => holderOf(held) as HookHolder
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List hooks of a ${of}`,
      description: 'Oldest first.',
      subject,
      allow: 'admin_hook',
      paged: true,
      returns: Hook,
      handle: ({ subject: held, page, ctx }) => fetchPage(ctx.db, hookRow, hooksOf(holder(held)), page),
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:hook_id`,
      summary: `Get a hook of a ${of}`,
      subject,
      allow: 'admin_hook',
      params: Params({ hook_id: hookId }),
      returns: Hook,
      handle: ({ subject: held, params, ctx }) => getHook(ctx, holder(held), params.hook_id),
    }),

    endpoint({
      method: 'POST',
      path,
      summary: `Create a hook of a ${of}`,
      description:
        'Responds with 422 if requests to the URL are not allowed, as to the local network, or if the branch filter is not a possible branch.',
      subject,
      allow: 'admin_hook',
      params: hookParams(of, {}),
      returns: Hook,
      handle: ({ subject: held, params, ctx }) => createHook(ctx, holder(held), hookInput(params)),
    }),

    endpoint({
      method: 'PUT',
      path: `${path}/:hook_id`,
      summary: `Update a hook of a ${of}`,
      description: 'Other absent values stay. Ends a pause of the hook: what waits is sent at once.',
      subject,
      allow: 'admin_hook',
      params: hookParams(of, { hook_id: hookId }),
      returns: Hook,
      handle: ({ subject: held, params: { hook_id, ...input }, ctx }) =>
        editHook(ctx, holder(held), hook_id, hookInput(input)),
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:hook_id`,
      summary: `Delete a hook of a ${of}`,
      description: 'Nothing more is sent to it. Returns the hook as it was.',
      subject,
      allow: 'admin_hook',
      params: Params({ hook_id: hookId }),
      changedAt: async (held, params, ctx) => (await findHook(ctx.db, holder(held), params.hook_id))?.updated_at,
      returns: Hook,
      handle: ({ subject: held, params, ctx }) => removeHook(ctx, holder(held), params.hook_id),
    }),
  ]
})
