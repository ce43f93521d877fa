import { Type } from 'typebox'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/entity.ts'
import { Id, Optional, Params, Text } from '../../../api/params/types.ts'
import { instance } from '../../instance/index.ts'
import { findTakenPath, type TakenPath } from './exists-queries.ts'
import { readableNamespace } from './find.ts'

const NamespaceExistence = entity({
  name: 'NamespaceExistence',
  schema: Type.Object({
    exists: Type.Boolean({ description: 'True if a user, a group or (below a group) a project has the path' }),
    suggests: Type.Array(Type.String(), { description: 'Similar free paths; empty if the path is free' }),
  }),
  present: ({ taken, suggested }: TakenPath) => ({ exists: taken, suggests: suggested === null ? [] : [suggested] }),
})

export const namespaceExistsRoutes = [
  /** Creating a group and renaming check the same. */
  endpoint({
    method: 'GET',
    path: '/namespaces/:id/exists',
    summary: 'Check whether a namespace path exists',
    description: 'Suggests free paths when the path is taken.',
    subject: instance,
    allow: 'use',
    params: Params({
      id: Text({ description: 'Path segment of the group or project' }),
      parent_id: Optional(Id({ description: 'Parent group ID; omit for a top-level group' })),
    }),
    returns: NamespaceExistence,
    async handle({ params, ctx }) {
      const parent = params.parent_id === undefined ? undefined : await readableNamespace(ctx, params.parent_id)
      // A path with a slash is no single segment.
      if (params.id.includes('/')) return { taken: false, suggested: null }
      return findTakenPath(ctx.db, params.id, parent?.full_path)
    },
  }),
]
