import { Type } from 'typebox'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/entity.ts'
import { instance } from '../instance/subject.ts'
import { apiVersion, revision } from './version.ts'

const Version = entity({
  name: 'Version',
  schema: Type.Object({ version: Type.String(), revision: Type.String() }),
  present: (row: { version: string; revision: string }) => row,
})

const Metadata = entity({
  name: 'Metadata',
  schema: Type.Object({
    version: Type.String(),
    revision: Type.String(),
    kas: Type.Object({ enabled: Type.Boolean(), externalUrl: Type.Null(), version: Type.Null() }),
    enterprise: Type.Boolean({ description: 'True if the plan is above free' }),
  }),
  present: (row: { version: string; revision: string; enterprise: boolean }) => ({
    ...row,
    kas: { enabled: false, externalUrl: null, version: null },
  }),
})

export const versionRoutes = [
  endpoint({
    method: 'GET',
    path: '/version',
    summary: 'Get the API version',
    scopes: ['read_user'],
    subject: instance,
    allow: 'read_version',
    returns: Version,
    handle: async () => ({ version: apiVersion, revision }),
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
    handle: async ({ ctx }) => ({ version: apiVersion, revision, enterprise: ctx.plan !== 'free' }),
  }),
]
