import { notFound } from '../../kernel/failure.ts'
import { findPicture, type PictureName, pictures } from '../../modules/administration/index.ts'
import type { HttpContext } from './context.ts'
import { beginExchange } from './exchange.ts'
import { fail } from './fail.ts'
import { logAnswer } from './request-log.ts'
import type { Routes } from './server.ts'
import { sendPicture } from './stored-picture.ts'

/** Images of the installation, public because the sign-in page shows them. */
export const appearanceRoutes =
  (context: HttpContext): Routes =>
  (app) => {
    app.route<{ Params: { name: string; filename: string } }>({
      method: ['GET', 'HEAD'],
      url: '/uploads/-/system/appearance/:name/1/:filename',
      async handler(request, reply) {
        reply.hijack()
        const exchange = beginExchange(request, reply, context.siteUrl)
        const { name, filename } = request.params
        try {
          const ctx = await context.open(null, request.ip)
          const isPicture = (pictures as readonly string[]).includes(name) && !filename.includes('\0')
          const found = isPicture ? await findPicture(ctx.db, name as PictureName, filename) : undefined
          const sent = found && (await sendPicture(exchange, ctx.blobs, { digest: found.digest, filename }, 'public'))
          if (!sent) throw notFound('Picture')
        } catch (error) {
          fail(exchange, error, context)
        } finally {
          logAnswer(context.log, exchange, null)
        }
      },
    })
  }
