import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Filled, Flag, Id, Nullable, OneOf, Optional, Params, Text, Timestamp } from '../../../api/params/types.ts'
import { wallClockMs } from '../../../kernel/clock.ts'
import { invalid } from '../../../kernel/failure.ts'
import { Message } from '../../instance/index.ts'
import { project } from '../../projects/index.ts'
import { Environment, EnvironmentDetail } from './entity.ts'
import { tiers } from './names.ts'
import { environmentRow, environmentsOf, states } from './queries.ts'
import {
  createEnvironment,
  editEnvironment,
  getEnvironment,
  removeEnvironment,
  stopEnvironment,
  stopStaleEnvironments,
} from './service.ts'

const environment_id = Id({ description: 'ID of the environment' })

const values = {
  external_url: Optional(Nullable(Text({ description: 'URL at which the environment runs' }))),
  description: Optional(Nullable(Text({ description: 'What the environment is for' }))),
  tier: Optional(OneOf(tiers, { description: 'Kind of environment; default: guessed from the name' })),
}

const shortestSearch = 3

const dayMs = 86_400_000
/** Bounds of `before` when stale environments are stopped: a week and ten years, as in the API of later releases. */
const [leastStaleDays, mostStaleDays] = [7, 3653]

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
    method: 'POST',
    path: '/projects/:id/environments/stop_stale',
    summary: 'Stop stale environments',
    description: 'Stops environments that neither changed nor had a deployment since a time.',
    subject: project,
    allow: 'update_environment',
    params: Params({
      before: Timestamp({ description: 'Time since which nothing happened; between ten years and one week ago' }),
    }),
    status: 200,
    returns: Message,
    async handle({ subject, params: { before }, ctx }) {
      const days = (wallClockMs() - before.getTime()) / dayMs
      if (days < leastStaleDays || days > mostStaleDays) throw invalid('Invalid Date')
      await stopStaleEnvironments(ctx, subject, before)
      return { message: 'Successfully requested stop for all stale environments' }
    },
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
