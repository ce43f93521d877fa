import { Type } from 'typebox'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/entity.ts'
import { Id, Params } from '../../../api/params/types.ts'
import { nullable, timestamp } from '../../../api/schema.ts'
import { instance } from '../instance/subject.ts'
import type { TermsRow } from './queries.ts'
import { acceptTerms, currentTerms } from './service.ts'

const Terms = entity({
  name: 'Terms',
  schema: Type.Object({
    id: Type.Integer({ description: 'ID of this version of the terms' }),
    text: Type.String({ description: 'Text of the terms in Markdown' }),
    accepted_at: nullable(timestamp(), { description: 'Time at which the caller accepted the terms' }),
  }),
  present: (row: TermsRow) => ({ id: row.id, text: row.text, accepted_at: row.accepted_at }),
})

export const termsRoutes = [
  endpoint({
    method: 'GET',
    path: '/user/terms',
    summary: 'Get the current terms of service',
    scopes: ['read_user'],
    subject: instance,
    allow: 'use',
    beforeTerms: true,
    returns: Terms,
    handle: ({ ctx }) => currentTerms(ctx),
  }),

  endpoint({
    method: 'POST',
    path: '/user/terms/accept',
    summary: 'Accept the terms of service',
    subject: instance,
    allow: 'use',
    beforeTerms: true,
    params: Params({ id: Id({ description: 'ID of the terms that the user read' }) }),
    returns: Terms,
    handle: ({ params, ctx }) => acceptTerms(ctx, params.id),
  }),
]
