import type { Ctx } from '../../api/ctx.ts'
import { type Exchange, type Headers, sendText } from '../http/answer.ts'

export const mediaType = 'application/vnd.git-lfs+json'

/** What one call has to work with. */
export type Visit = { readonly exchange: Exchange; readonly ctx: Ctx }

export const sendLfs = (exchange: Exchange, status: number, value: unknown, headers: Headers = {}): void =>
  sendText(exchange, status, JSON.stringify(value), { 'content-type': mediaType, ...headers })

/** A refusal of the whole request. `more` goes into the body. */
export function refuse(
  exchange: Exchange,
  siteUrl: string,
  status: number,
  message: string,
  { headers = {}, more = {} }: { headers?: Headers; more?: object } = {},
): void {
  // What is left of the body is not worth reading.
  const close: Headers = exchange.req.complete ? {} : { connection: 'close' }
  const body = { ...more, message, documentation_url: `${siteUrl}/-/docs`, request_id: exchange.requestId }
  sendLfs(exchange, status, body, { ...headers, ...close })
}
