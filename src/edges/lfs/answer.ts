import type { Ctx } from '../../api/ctx.ts'
import { type Exchange, type Headers, sendText } from '../http/answer.ts'

export const mediaType = 'application/vnd.git-lfs+json'

/** The exchange and the context of one call. */
export type LfsExchange = { readonly exchange: Exchange; readonly ctx: Ctx }

export const sendLfs = (exchange: Exchange, status: number, value: unknown, headers: Headers = {}): void =>
  sendText(exchange, status, JSON.stringify(value), { 'content-type': mediaType, ...headers })

/** Rejects the whole request. `more` is added to the body. */
export function refuse(
  exchange: Exchange,
  siteUrl: string,
  status: number,
  message: string,
  { headers = {}, more = {} }: { headers?: Headers; more?: object } = {},
): void {
  const body = { ...more, message, documentation_url: `${siteUrl}/-/docs`, request_id: exchange.requestId }
  sendLfs(exchange, status, body, headers)
}
