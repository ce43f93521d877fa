import { sendText } from './answer.ts'
import type { HttpContext } from './context.ts'
import { beginExchange } from './exchange.ts'
import { html, pageHeaders, wantsPage, welcomePage } from './html-page.ts'
import { logAnswer } from './request-log.ts'
import type { Routes } from './server.ts'

/** `/`: redirects to the configured home page; without one, a page for browsers and 404 for other clients. */
export const homeRoutes =
  ({ settings, siteUrl, log }: HttpContext): Routes =>
  (app) => {
    app.route({
      method: ['GET', 'HEAD'],
      url: '/',
      async handler(request, reply) {
        const { home_page_url } = await settings.get()
        // A header has no other letters than ASCII.
        if (home_page_url) return reply.redirect(new URL(home_page_url).href, 302)
        if (!wantsPage(request.raw)) return reply.callNotFound()
        reply.hijack()
        const exchange = beginExchange(request, reply, siteUrl)
        sendText(exchange, 200, html(welcomePage(siteUrl)), { ...pageHeaders, vary: 'Origin, Accept' })
        logAnswer(log, exchange, null)
        return reply
      },
    })
  }
