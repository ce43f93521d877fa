import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Plan } from '../../../kernel/plan.ts'
import { FixedText, sendFixed } from '../answer.ts'
import { beginExchange } from '../exchange.ts'
import type { Routes } from '../server.ts'
import { sitePathOf } from '../target.ts'
import { type Areas, openApiDocument } from './document.ts'
import { readExamples } from './examples.ts'

export type OpenApiParts = { areas: Areas; plan: Plan; version: string; apiVersion: string; siteUrl: string }

/** `/openapi.json`: the API that this instance offers. Generated on the first request, then cached. */
export const openApiRoutes =
  ({ areas, plan, version, apiVersion, siteUrl }: OpenApiParts): Routes =>
  (app) => {
    let text: FixedText | undefined
    app.route({
      method: ['GET', 'HEAD'],
      url: '/openapi.json',
      handler(request: FastifyRequest, reply: FastifyReply) {
        text ??= new FixedText(
          JSON.stringify(
            openApiDocument(areas, {
              plan,
              version,
              apiVersion,
              examples: readExamples(),
              sitePath: sitePathOf(siteUrl),
            }),
          ),
        )
        reply.hijack()
        sendFixed(beginExchange(request, reply, siteUrl), text, { 'content-type': 'application/json' })
      },
    })
  }
