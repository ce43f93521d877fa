import { type Exchange, type Headers, sendJson, sendText } from './answer.ts'
import type { HttpContext } from './context.ts'
import { endFailed } from './end-failed.ts'
import { errorPage, hasPages, html, pageHeaders, wantsPage } from './html-page.ts'

/** Sends the error response, to a browser as a page; logs errors that the caller did not cause. */
export function fail(exchange: Exchange, error: unknown, { log, siteUrl }: Pick<HttpContext, 'log' | 'siteUrl'>): void {
  const { req } = exchange
  endFailed(exchange, error, {
    log,
    what: 'request failed',
    send({ status, body, headers }) {
      const varying: Headers = hasPages(req) ? { vary: 'Origin, Accept' } : {}
      if (wantsPage(req))
        sendText(exchange, status, html(errorPage(status, siteUrl)), {
          ...headers,
          ...varying,
          ...pageHeaders,
          'cache-control': 'no-cache',
        })
      else sendJson(exchange, status, body, { ...headers, ...varying })
    },
  })
}
