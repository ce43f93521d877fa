import { type Exchange, type Headers, sendJson, sendText } from './answer.ts'
import type { HttpContext } from './context.ts'
import { ClientDisconnected, clientDisconnectedStatus } from './disconnect.ts'
import { answerFor, logFault } from './failures.ts'
import { errorPage, hasPages, html, pageHeaders, wantsPage } from './html-page.ts'

/** Sends the error response, to a browser as a page; logs errors that the caller did not cause. */
export function fail(exchange: Exchange, error: unknown, { log, siteUrl }: Pick<HttpContext, 'log' | 'siteUrl'>): void {
  if (error instanceof ClientDisconnected) {
    exchange.res.statusCode = clientDisconnectedStatus
    return
  }
  const { status, body, headers } = answerFor(error)
  const { req, res, requestId } = exchange
  // Not if the client disconnected. `req.destroyed` does not tell: it is true for a fully read request.
  if (!res.destroyed)
    logFault(
      log,
      error,
      { request_id: requestId, method: req.method, path: req.url!.split('?', 1)[0] },
      'request failed',
    )
  if (res.headersSent) {
    res.destroy()
    return
  }
  const varying: Headers = hasPages(req) ? { vary: 'Origin, Accept' } : {}
  if (wantsPage(req))
    sendText(exchange, status, html(errorPage(status, siteUrl)), {
      ...headers,
      ...varying,
      ...pageHeaders,
      'cache-control': 'no-cache',
    })
  else sendJson(exchange, status, body, { ...headers, ...varying })
}
