import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Filled, Flag, Id, Nullable, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'
import { invalid } from '../../../kernel/failure.ts'
import { project } from '../../projects/index.ts'
import { Environment, EnvironmentDetail } from './entity.ts'
import { tiers } from './names.ts'
import { environmentRow, environmentsOf, states } from './queries.ts'
import { createEnvironment, editEnvironment, getEnvironment, removeEnvironment, stopEnvironment } from './service.ts'

const environment_id = Id({ description: 'ID of the environment' })

const values = {
  external_url: Optional(Nullable(Text({ description: 'URL at which the environment runs' }))),
  description: Optional(Nullable(Text({ description: 'What the environment is for' }))),
  tier: Optional(OneOf(tiers, { description: 'Kind of environment; default: guessed from the name' })),
}

const shortestSearch = 3

export const environmentRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/environments',
    summary: 'List environments',
    description: 'Oldest first.',
    subject: project,
    allow: 'read_environment',
    params: Params({
      name: Optional(Text({ description: 'Only the environment with this name; excludes `search`' })),
      search: Optional(Text({ description: 'Part of the name, at least three characters' })),
      states: Optional(OneOf(states, { description: 'Only environments in this state' })),
    }),
    paged: true,
    returns: Environment,
    handle({ subject, params, page, ctx }) {
      if (params.name && params.search) throw invalid('name, search are mutually exclusive')
      if (params.search && [...params.search].length < shortestSearch)
        throw invalid(`Search query is less than ${shortestSearch} characters`)
      return fetchPage(ctx.db, environmentRow, environmentsOf(subject.id, params), page)
    },
  }),

  endpoint({
    method: 'GET',
    path: '/projects/:id/environments/:environment_id',
    summary: 'Get an environment',
    subject: project,
    allow: 'read_environment',
    params: Params({ environment_id }),
    returns: EnvironmentDetail,
    handle: ({ subject, params, ctx }) => getEnvironment(ctx, subject, params.environment_id),
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/environments',
    summary: 'Create an environment',
    subject: project,
    allow: 'update_environment',
    params: Params({ name: Filled({ description: 'Name, unique in the project' }), ...values }),
    returns: Environment,
    handle: ({ subject, params, ctx }) => createEnvironment(ctx, subject, params),
  }),

  endpoint({
    method: 'PUT',
    path: '/projects/:id/environments/:environment_id',
    summary: 'Update an environment',
    subject: project,
    allow: 'update_environment',
    params: Params({
      environment_id,
      name: Optional(Filled({ description: 'Name, unique in the project; the slug stays' })),
      ...values,
    }),
    returns: Environment,
    handle: ({ subject, params: { environment_id: id, ...changes }, ctx }) =>
      editEnvironment(ctx, subject, id, changes),
  }),

  endpoint({
    method: 'POST',
    path: '/projects/:id/environments/:environment_id/stop',
    summary: 'Stop an environment',
    subject: project,
    allow: 'update_environment',
    params: Params({
      environment_id,
      force: Flag({ default: false, description: 'Same effect; there are no jobs that run on stop' }),
    }),
    status: 200,
    returns: Environment,
    handle: ({ subject, params, ctx }) => stopEnvironment(ctx, subject, params.environment_id),
  }),

  endpoint({
    method: 'DELETE',
    path: '/projects/:id/environments/:environment_id',
    summary: 'Delete an environment',
    description: 'Deletes its deployments, too. The environment must be stopped.',
    subject: project,
    allow: 'update_environment',
    params: Params({ environment_id }),
    returns: null,
    handle: ({ subject, params, ctx }) => removeEnvironment(ctx, subject, params.environment_id),
  }),
]
