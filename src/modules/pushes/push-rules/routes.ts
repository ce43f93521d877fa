import type { TObject } from 'typebox'
import type { Facts } from '../../../access/policy.ts'
import { type Endpoint, endpoint, noRecord, type Subject } from '../../../api/endpoint.ts'
import type { Entity } from '../../../api/entity.ts'
import type { Tier } from '../../../kernel/plan.ts'
import { group, type Holder, instanceHolder } from '../../groups/index.ts'
import { instance } from '../../instance/index.ts'
import { project } from '../../projects/index.ts'
import { PushRule, PushRuleTemplate } from './entity.ts'
import { pushRuleParams } from './params.ts'
import { findPushRule, type PushRuleRow } from './queries.ts'
import { changePushRule, createPushRule, getPushRule, removePushRule } from './service.ts'

/** New projects copy the rule of their closest group that has one, or the installation's. */
const copied = 'New projects copy it, unless a group closer to them has one. Existing projects keep theirs.'

/** What differs between the rules of a project, of a group, and of the installation. */
type Kind<T extends { readonly facts: Facts }, A extends string> = {
  readonly path: string
  /** `project` in the summaries. */
  readonly noun: string
  readonly tier: Tier
  readonly subject: Subject<T, A, TObject>
  readonly allow: NoInfer<A>
  readonly returns: Entity<PushRuleRow>
  readonly holderOf: (subject: T) => Holder
  readonly creation: string
  readonly description?: string
  /** Compat: a project without a rule has null instead of 404. */
  readonly empty?: string
  readonly deletion?: string
}

function routesOf<T extends { readonly facts: Facts }, A extends string>(kind: Kind<T, A>): readonly Endpoint[] {
  const { path, noun, tier, subject, allow, returns, holderOf, description } = kind
  const shared = { path, tier, subject, allow } as const
  const about = description === undefined ? {} : { description }
  return [
    endpoint({
      ...shared,
      ...about,
      method: 'GET',
      summary: `Get ${noun} push rule`,
      returns,
      ...(kind.empty !== undefined && { empty: kind.empty }),
      async handle({ subject: held, ctx }) {
        if (kind.empty === undefined) return getPushRule(ctx, holderOf(held))
        return (await findPushRule(ctx.db, holderOf(held))) ?? noRecord
      },
    }),

    endpoint({
      ...shared,
      method: 'POST',
      summary: `Create ${noun} push rule`,
      description: kind.creation,
      params: pushRuleParams,
      returns,
      handle: ({ subject: held, params, ctx }) => createPushRule(ctx, holderOf(held), params),
    }),

    endpoint({
      ...shared,
      ...about,
      method: 'PUT',
      summary: `Update ${noun} push rule`,
      params: pushRuleParams,
      returns,
      handle: ({ subject: held, params, ctx }) => changePushRule(ctx, holderOf(held), params),
    }),

    endpoint({
      ...shared,
      ...(kind.deletion !== undefined && { description: kind.deletion }),
      method: 'DELETE',
      summary: `Delete ${noun} push rule`,
      changedAt: async (held, _params, ctx) => (await findPushRule(ctx.db, holderOf(held)))?.updated_at,
      returns: null,
      handle: ({ subject: held, ctx }) => removePushRule(ctx, holderOf(held)),
    }),
  ]
}

const template = {
  returns: PushRuleTemplate,
  creation: copied,
  description: copied,
  deletion: 'Projects that copied it keep their copies.',
} as const

export const pushRuleRoutes: readonly Endpoint[] = [
  ...routesOf({
    path: '/projects/:id/push_rule',
    noun: 'a project',
    tier: 'starter',
    subject: project,
    allow: 'admin_push_rule',
    returns: PushRule,
    empty: 'null if the project has no push rule',
    holderOf: ({ id }) => ({ of: 'project', id }),
    creation: 'Pushes, commits of the API and merges must follow it. See docs/push-rules.md.',
  }),
  ...routesOf({
    ...template,
    path: '/groups/:id/push_rule',
    noun: 'a group',
    tier: 'premium',
    subject: group,
    allow: 'admin_push_rule',
    holderOf: ({ id }) => ({ of: 'group', id }),
  }),
  ...routesOf({
    ...template,
    path: '/application/push_rule',
    noun: 'the instance',
    tier: 'starter',
    subject: instance,
    allow: 'administer',
    holderOf: () => instanceHolder,
  }),
]
