import { type TObject, Type } from 'typebox'
import type { Scope } from '../../access/scopes.ts'
import type { Endpoint } from '../../api/endpoint.ts'
import type { Page } from '../../api/page.ts'
import { OneOf, Optional, Whole } from '../../api/params/types.ts'

/* What endpoints declare, completed with the defaults: for serving and for the documentation. */

export const apiPrefix = '/api/v4'

const maximumPerPage = 100
/** A list has fewer pages. The offset of this one is a number that the database knows. */
const maximumPage = 2 ** 31 - 1
const usualPerPage = 20

/** Parameters of every list. Compat: values out of range are clamped. */
export const pagingParams = {
  page: Whole({ maximum: Number.MAX_SAFE_INTEGER, default: 1, description: 'Page number, from 1' }),
  per_page: Whole({
    maximum: Number.MAX_SAFE_INTEGER,
    default: usualPerPage,
    description: `Items per page, at most ${maximumPerPage}`,
  }),
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

/** The page that the parameters of a list ask for. */
export function pageOf(params: {
  page?: number
  per_page?: number
  pagination?: string
  id_after?: number
  id_before?: number
}): Page {
  const { page = 1, per_page = usualPerPage } = params
  return {
    page: Math.min(Math.max(1, page), maximumPage),
    perPage: per_page < 1 ? usualPerPage : Math.min(per_page, maximumPerPage),
    keyset: params.pagination === 'keyset',
    ...(params.id_after !== undefined && { idAfter: params.id_after }),
    ...(params.id_before !== undefined && { idBefore: params.id_before }),
  }
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
