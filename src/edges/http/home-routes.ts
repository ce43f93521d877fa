import type { SettingsReader } from '../../settings/store.ts'
import type { Routes } from './server.ts'

/** Redirects `/` to the configured home page; 404 without one. */
export const homeRoutes =
  (settings: SettingsReader): Routes =>
  (app) => {
    app.route({
      method: ['GET', 'HEAD'],
      url: '/',
      async handler(_request, reply) {
        const { home_page_url } = await settings.get()
        return home_page_url ? reply.redirect(home_page_url, 302) : reply.callNotFound()
      },
    })
  }
