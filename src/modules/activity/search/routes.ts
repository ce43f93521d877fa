import { allows } from '../../../access/policy.ts'
import { type Endpoint, endpoint, type Variant, variants } from '../../../api/endpoint.ts'
import { Filled, OneOf, Optional, Params, Text } from '../../../api/params/types.ts'
import { forbidden } from '../../../kernel/failure.ts'
import { group } from '../../groups/index.ts'
import { instance } from '../../instance/index.ts'
import { project } from '../../projects/index.ts'
import { requireAllowance } from './allowance.ts'
import type { Search, SearchScope } from './scope.ts'
import { groupScopes, instanceScopes, projectScopes } from './scopes.ts'

const longest = 4096

const paramsFor = (scopes: readonly SearchScope<any>[]) => ({
  scope: OneOf(
    scopes.map(({ name }) => name),
    { description: 'Type of objects to search' },
  ),
  search: Filled({ maxLength: longest, description: 'Text to search for' }),
})

const answers = (scopes: readonly SearchScope<any>[]) => variants(...new Set(scopes.flatMap(({ returns }) => returns)))

/** The search for this scope, which the parameters have validated. */
async function search<Within>(
  scopes: readonly SearchScope<Within>[],
  name: string,
  asked: Search<Within>,
): Promise<Variant> {
  await requireAllowance(asked.ctx)
  return scopes.find((scope) => scope.name === name)!.find(asked)
}

const searchGroup = (path: string): Endpoint =>
  endpoint({
    method: 'GET',
    path,
    summary: 'Search in a group',
    subject: group,
    allow: 'search_group',
    params: Params(paramsFor(groupScopes)),
    paged: true,
    returns: answers(groupScopes),
    handle: ({ subject, params, page, ctx }) =>
      search(groupScopes, params.scope, { ctx, within: subject, search: params.search, page }),
  })

const searchProject = (path: string): Endpoint =>
  endpoint({
    method: 'GET',
    path,
    summary: 'Search in a project',
    subject: project,
    allow: 'search_project',
    params: Params({
      ...paramsFor(projectScopes),
      ref: Optional(
        Text({ description: 'Branch, tag or commit in which to search code; default: the default branch' }),
      ),
    }),
    paged: true,
    returns: answers(projectScopes),
    async handle({ subject, params, page, ctx }) {
      const { scope, ...asked } = params
      const ability = projectScopes.find(({ name }) => name === scope)?.allow
      if (ability && !allows(project.policy[ability]!, ctx.actor, subject.facts)) throw forbidden()
      return search(projectScopes, scope, { ctx, within: subject, ...asked, page })
    },
  })

/** Groups and projects are searched at two paths, because clients use either. */
export const searchRoutes = [
  endpoint({
    method: 'GET',
    path: '/search',
    summary: 'Search the whole instance',
    description: 'Searches everything that the caller can see.',
    subject: instance,
    allow: 'use',
    params: Params(paramsFor(instanceScopes)),
    paged: true,
    returns: answers(instanceScopes),
    handle: ({ params, page, ctx }) =>
      search(instanceScopes, params.scope, { ctx, within: null, search: params.search, page }),
  }),
  searchGroup('/groups/:id/search'),
  searchGroup('/groups/:id/-/search'),
  searchProject('/projects/:id/search'),
  searchProject('/projects/:id/-/search'),
]
