import { type Endpoint, endpoint, noRecord } from '../../../api/endpoint.ts'
import { group, type Holder, instanceHolder } from '../../groups/index.ts'
import { instance } from '../../instance/index.ts'
import { project } from '../../projects/index.ts'
import { PushRule, PushRuleTemplate } from './entity.ts'
import { pushRuleParams } from './params.ts'
import { findPushRule } from './queries.ts'
import { changePushRule, createPushRule, getPushRule, removePushRule } from './service.ts'

/** New projects copy the rule of their closest group that has one, or the installation's. */
const copied = 'New projects copy it, unless a group closer to them has one. Existing projects keep theirs.'

const ofProject = ({ id }: { readonly id: number }): Holder => ({ of: 'project', id })
const ofGroup = ({ id }: { readonly id: number }): Holder => ({ of: 'group', id })

export const pushRuleRoutes: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/push_rule',
    summary: 'Get a project push rule',
    tier: 'starter',
    subject: project,
    allow: 'admin_push_rule',
    returns: PushRule,
    empty: 'null if the project has no push rule',
    handle: async ({ subject, ctx }) => (await findPushRule(ctx.db, ofProject(subject))) ?? noRecord,
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/push_rule',
    summary: 'Create a project push rule',
    description: 'Pushes, commits of the API and merges must follow it. See docs/push-rules.md.',
    tier: 'starter',
    subject: project,
    allow: 'admin_push_rule',
    params: pushRuleParams,
    returns: PushRule,
    handle: ({ subject, params, ctx }) => createPushRule(ctx, ofProject(subject), params),
  }),

  endpoint({
    method: 'PUT',
    path: '/projects/:id/push_rule',
    summary: 'Update a project push rule',
    tier: 'starter',
    subject: project,
    allow: 'admin_push_rule',
    params: pushRuleParams,
    returns: PushRule,
    handle: ({ subject, params, ctx }) => changePushRule(ctx, ofProject(subject), params),
  }),

  endpoint({
    method: 'DELETE',
    path: '/projects/:id/push_rule',
    summary: 'Delete a project push rule',
    tier: 'starter',
    subject: project,
    allow: 'admin_push_rule',
    changedAt: async (subject, _params, ctx) => (await findPushRule(ctx.db, ofProject(subject)))?.updated_at,
    returns: null,
    handle: ({ subject, ctx }) => removePushRule(ctx, ofProject(subject)),
  }),

  endpoint({
    method: 'GET',
    path: '/groups/:id/push_rule',
    summary: 'Get a group push rule',
    description: copied,
    tier: 'premium',
    subject: group,
    allow: 'admin_push_rule',
    returns: PushRuleTemplate,
    handle: ({ subject, ctx }) => getPushRule(ctx, ofGroup(subject)),
  }),

  endpoint({
    method: 'POST',
    path: '/groups/:id/push_rule',
    summary: 'Create a group push rule',
    description: copied,
    tier: 'premium',
    subject: group,
    allow: 'admin_push_rule',
    params: pushRuleParams,
    returns: PushRuleTemplate,
    handle: ({ subject, params, ctx }) => createPushRule(ctx, ofGroup(subject), params),
  }),

  endpoint({
    method: 'PUT',
    path: '/groups/:id/push_rule',
    summary: 'Update a group push rule',
    description: copied,
    tier: 'premium',
    subject: group,
    allow: 'admin_push_rule',
    params: pushRuleParams,
    returns: PushRuleTemplate,
    handle: ({ subject, params, ctx }) => changePushRule(ctx, ofGroup(subject), params),
  }),

  endpoint({
    method: 'DELETE',
    path: '/groups/:id/push_rule',
    summary: 'Delete a group push rule',
    description: 'Projects that copied it keep their copies.',
    tier: 'premium',
    subject: group,
    allow: 'admin_push_rule',
    changedAt: async (subject, _params, ctx) => (await findPushRule(ctx.db, ofGroup(subject)))?.updated_at,
    returns: null,
    handle: ({ subject, ctx }) => removePushRule(ctx, ofGroup(subject)),
  }),

  endpoint({
    method: 'GET',
    path: '/application/push_rule',
    summary: 'Get the instance push rule',
    description: copied,
    tier: 'starter',
    subject: instance,
    allow: 'administer',
    returns: PushRuleTemplate,
    handle: ({ ctx }) => getPushRule(ctx, instanceHolder),
  }),

  endpoint({
    method: 'POST',
    path: '/application/push_rule',
    summary: 'Create the instance push rule',
    description: copied,
    tier: 'starter',
    subject: instance,
    allow: 'administer',
    params: pushRuleParams,
    returns: PushRuleTemplate,
    handle: ({ params, ctx }) => createPushRule(ctx, instanceHolder, params),
  }),

  endpoint({
    method: 'PUT',
    path: '/application/push_rule',
    summary: 'Update the instance push rule',
    description: copied,
    tier: 'starter',
    subject: instance,
    allow: 'administer',
    params: pushRuleParams,
    returns: PushRuleTemplate,
    handle: ({ params, ctx }) => changePushRule(ctx, instanceHolder, params),
  }),

  endpoint({
    method: 'DELETE',
    path: '/application/push_rule',
    summary: 'Delete the instance push rule',
    description: 'Projects that copied it keep their copies.',
    tier: 'starter',
    subject: instance,
    allow: 'administer',
    changedAt: async (_subject, _params, ctx) => (await findPushRule(ctx.db, instanceHolder))?.updated_at,
    returns: null,
    handle: ({ ctx }) => removePushRule(ctx, instanceHolder),
  }),
]
