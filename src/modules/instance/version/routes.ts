import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/entity.ts'
import { instance } from '../instance/subject.ts'
import { apiVersion, revision } from './version.ts'

const Metadata = entity({
  name: 'Metadata',
  schema: Type.Object({
    version: Type.String({ description: 'Version of the API that this instance is compatible with' }),
    revision: Type.String({ description: 'Revision of that version' }),
    kas: Type.Object(
      {
        enabled: Type.Boolean({ description: 'Always false; not supported' }),
        externalUrl: Type.Null({ description: 'Always null; not supported' }),
        version: Type.Null({ description: 'Always null; not supported' }),
      },
      { description: 'Agent server for Kubernetes; not supported' },
    ),
    enterprise: Type.Boolean({ description: 'True if the plan is above free' }),
  }),
  present: (row: { version: string; revision: string; enterprise: boolean }) => ({
    ...row,
    kas: { enabled: false, externalUrl: null, version: null },
  }),
})

const metadata = (ctx: Ctx) => ({ version: apiVersion, revision, enterprise: ctx.plan !== 'free' })

export const versionRoutes = [
  endpoint({
    method: 'GET',
    path: '/version',
    summary: 'Get the API version',
    // Compat: clients of newer versions read `enterprise` here.
    description: 'Returns what `GET /metadata` returns.',
    scopes: ['read_user'],
    subject: instance,
    allow: 'read_version',
    returns: Metadata,
    handle: async ({ ctx }) => metadata(ctx),
  }),

  endpoint({
    method: 'GET',
    path: '/metadata',
    summary: 'Get instance metadata',
    description: 'Returns the API version and what the instance offers.',
    scopes: ['read_user'],
    subject: instance,
    allow: 'read_version',
    returns: Metadata,
    handle: async ({ ctx }) => metadata(ctx),
  }),
]
