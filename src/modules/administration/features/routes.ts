import { Type } from 'typebox'
import { endpoint, listed } from '../../../api/endpoint.ts'
import { entity } from '../../../api/entity.ts'
import { Filled, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'
import { instance } from '../../instance/index.ts'
import { shownGates, stateOf } from './gates.ts'
import { allFeatures, type FeatureRow } from './queries.ts'
import { forgetFeature, switchFeature } from './service.ts'

const Feature = entity({
  name: 'Feature',
  schema: Type.Object({
    name: Type.String({ description: 'Name of the feature' }),
    state: Type.String({
      description: 'State of the feature; `conditional` if it is on for some',
      enum: ['on', 'off', 'conditional'],
    }),
    gates: Type.Array(
      Type.Object({
        key: Type.String({
          description: 'Kind of the condition',
          enum: ['boolean', 'percentage_of_actors', 'percentage_of_time', 'actors', 'groups'],
        }),
        value: Type.Union([Type.Boolean(), Type.Integer(), Type.Array(Type.String())], {
          description: 'Value of the condition: a boolean, a percentage, or a list of actors or groups',
        }),
      }),
      { description: 'Conditions under which the feature is on; one that holds is enough' },
    ),
  }),
  present: ({ name, gates }: FeatureRow) => ({
    name,
    state: stateOf(gates),
    gates: shownGates(gates).map(({ key, value }) => ({
      key,
      value: typeof value === 'object' ? [...value] : value,
    })),
  }),
})

const named = { name: Filled({ maxLength: 255, pattern: '^[A-Za-z0-9_.:-]+$', description: 'Name of the feature' }) }
/** Compat: the Go library sends unset values as empty text. */
const who = (description: string) => Optional(Text({ maxLength: 1024, description }))

/** Feature flags that clients store here. The product itself reads only `limit_projects_in_groups_api`. */
export const featureRoutes = [
  endpoint({
    method: 'GET',
    path: '/features',
    summary: 'List feature flags',
    description: 'Returns only flags that were set at least once.',
    subject: instance,
    allow: 'administer',
    returns: listed(Feature),
    handle: ({ ctx }) => allFeatures(ctx.db),
  }),

  endpoint({
    method: 'POST',
    path: '/features/:name',
    summary: 'Set a feature flag',
    description: 'Enables or disables a feature for all actors, for some of them or for a percentage.',
    subject: instance,
    allow: 'administer',
    params: Params({
      ...named,
      value: Filled({ description: 'true, false, or the percentage of actors for whom it is enabled' }),
      key: OneOf(['percentage_of_actors', 'percentage_of_time', ''], {
        default: 'percentage_of_time',
        description: 'What `value` is a percentage of; default: percentage of time',
      }),
      feature_group: who('Name of a feature group of users'),
      user: who('Username of a user for whom it is set'),
      group: who('Full path of a group'),
      project: who('Full path of a project'),
    }),
    returns: Feature,
    handle: ({ params: { name, key, ...input }, ctx }) =>
      switchFeature(ctx, name, { ...input, key: key || 'percentage_of_time' }),
  }),

  endpoint({
    method: 'DELETE',
    path: '/features/:name',
    summary: 'Delete a feature flag',
    description: 'The feature returns to its default.',
    subject: instance,
    allow: 'administer',
    params: Params(named),
    returns: null,
    handle: ({ params, ctx }) => forgetFeature(ctx, params.name),
  }),
]
