import { Type } from 'typebox'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/entity.ts'
import { Params } from '../../../api/params/types.ts'
import { project } from '../projects/subject.ts'
import { listLanguages } from './queries.ts'
import type { Share } from './shares.ts'

const Languages = entity({
  name: 'Languages',
  // An object whose keys are not known in advance.
  schema: Type.Object({}, { patternProperties: { '^.+$': Type.Number({ description: 'Percentage of bytes' }) } }),
  present: (shares: readonly Share[]) => Object.fromEntries(shares.map(({ name, share }) => [name, share])),
})

export const languageRoutes = [
  endpoint({
    method: 'GET',
    path: '/projects/:id/languages',
    summary: 'List languages of a project',
    description: 'Returns the five largest languages of the default branch, each with its percentage of bytes.',
    subject: project,
    allow: 'read_project',
    params: Params({}),
    returns: Languages,
    handle: ({ subject, ctx }) => listLanguages(ctx.db, subject.id),
  }),
]
