import { type TObject, Type } from 'typebox'
import type { Scope } from '../../access/scopes.ts'
import type { Endpoint } from '../../api/endpoint.ts'
import { OneOf, Optional, Whole } from '../../api/params/types.ts'

/* What endpoints declare, completed with the defaults: for serving and for the documentation. */

export const apiPrefix = '/api/v4'

/** Parameters of every list. Compat: values out of range are clamped. */
export const pagingParams = {
  page: Whole({ default: 1, description: 'Page number, from 1' }),
  per_page: Whole({ default: 20, description: 'Items per page, at most 100' }),
  pagination: Optional(
    OneOf(['legacy', 'keyset'], { description: '`keyset` continues after an id; for lists ordered by id' }),
  ),
  id_after: Optional(
    Whole({ maximum: Number.MAX_SAFE_INTEGER, description: 'Keyset pagination: IDs greater than this' }),
  ),
  id_before: Optional(
    Whole({ maximum: Number.MAX_SAFE_INTEGER, description: 'Keyset pagination: IDs less than this' }),
  ),
}

/** All parameters of an endpoint: those of its subject, its own, and those of lists. */
export function allParams(e: Endpoint): TObject {
  const own: TObject = e.params ?? Type.Object({})
  return {
    ...own,
    properties: { ...(e.paged ? pagingParams : {}), ...e.subject.params.properties, ...own.properties },
  } as TObject
}

/** Token scopes, one of which is enough, in the order in which the error message lists them. */
export const scopesFor = (e: Endpoint): readonly Scope[] =>
  e.method === 'GET' ? ['api', 'read_api', ...(e.scopes ?? [])] : ['api', ...(e.scopes ?? [])]

export const statusOf = (e: Endpoint): number =>
  e.status ?? (e.returns === null ? 204 : e.method === 'POST' ? 201 : 200)
