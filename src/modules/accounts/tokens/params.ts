import { scopes } from '../../../access/scopes.ts'
import { CommaList, DateOnly, Id, List, Optional, Text } from '../../../api/params/types.ts'
import type { Limits } from './service.ts'

/** Attributes of a new token. */
export const newTokenParams = {
  name: Text({ description: 'Name of the token' }),
  expires_at: Optional(DateOnly({ description: 'Expiry date (UTC); invalid from this day on' })),
  scopes: CommaList(Text({ known: scopes }), { description: 'Scopes of the token: what it may be used for' }),
}

/** Ours: restricts the token to projects and groups. Returned in full with the token. */
const maxItems = 1000
export const limitParams = {
  project_ids: Optional(List(Id(), { maxItems, description: 'IDs of the projects to which the token is limited' })),
  group_ids: Optional(
    List(Id(), {
      maxItems,
      description: 'IDs of the groups to which the token is limited, with everything below them',
    }),
  ),
}

/** Without projects and groups the token is unrestricted; with two empty lists it has access to none. */
export const limitsOf = (params: { project_ids?: number[]; group_ids?: number[] }): Limits | undefined =>
  params.project_ids || params.group_ids
    ? { projectIds: params.project_ids ?? [], groupIds: params.group_ids ?? [] }
    : undefined

export const rotationParams = {
  expires_at: Optional(
    DateOnly({
      description: 'Expiry date of the new token; default: in one week',
    }),
  ),
}
