import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { FixedText, type Headers, sendFixed } from './answer.ts'
import { beginExchange } from './exchange.ts'
import type { Routes } from './server.ts'
import { sitePathOf } from './target.ts'

const folder = '/-/docs/'

/** The viewer and its styles: prebuilt files of the package `swagger-ui-dist`, served unchanged. */
const viewerFiles = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
} as const

/** The page loads nothing from another host; the policy permits no inline script, so the viewer starts from a file. */
const pageAt = (sitePath: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Stithy API</title>
<link rel="stylesheet" href="${sitePath}${folder}swagger-ui.css">
<link rel="stylesheet" href="${sitePath}${folder}style.css">
<script defer src="${sitePath}${folder}swagger-ui-bundle.js"></script>
<script defer src="${sitePath}${folder}start.js"></script>
</head>
<body>
<div id="api"></div>
</body>
</html>
`

/**
 * Tags start closed and record schemas are listed only where they are used: the document has hundreds of each. Operations are in the
 * order of their summaries. Only reads can be tried: a click on an example must not change anything.
 */
const startAt = (
  sitePath: string,
): string => `const summaryOf = (each) => each.getIn(['operation', 'summary']) || each.get('path')
SwaggerUIBundle({
  url: '${sitePath}/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: -1,
  filter: true,
  tagsSorter: 'alpha',
  operationsSorter: (one, other) => summaryOf(one).localeCompare(summaryOf(other)),
  supportedSubmitMethods: ['get', 'head'],
  validatorUrl: null,
})
`

/** The summary of an operation comes before its path. On a phone lines wrap, and tables scroll instead of the page. */
const style = `body { margin: 0; }
.swagger-ui .opblock .opblock-summary-description { order: 1; flex: 1 1 auto; font-size: 15px; font-weight: 600; color: inherit; }
.swagger-ui .opblock .opblock-summary-path-description-wrapper { flex: 1 1 auto; min-width: 0; }
.swagger-ui .opblock .opblock-summary-path { order: 2; flex: 0 1 auto; max-width: 100%; font-size: 13px; font-weight: 400; overflow-wrap: anywhere; }
@media (max-width: 640px) {
  .swagger-ui .wrapper { padding: 0 8px; }
  .swagger-ui .info { margin: 16px 0; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; padding: 8px 0; font-size: 18px; }
  .swagger-ui .opblock-tag small { flex-basis: 100%; padding: 0; }
  .swagger-ui .opblock .opblock-summary-method { min-width: 60px; padding: 6px 0; font-size: 12px; }
  .swagger-ui .opblock .opblock-summary-path-description-wrapper { flex-direction: column; align-items: flex-start; gap: 2px; }
  .swagger-ui .table-container, .swagger-ui .responses-inner, .swagger-ui .model-box { max-width: 100%; overflow-x: auto; }
  .swagger-ui .parameters-col_name, .swagger-ui .parameters-col_description { display: block; width: auto; }
  .swagger-ui select, .swagger-ui input[type=text], .swagger-ui textarea { max-width: 100%; min-width: 0; }
}
`

/** The viewer sets style attributes; scripts come only from this host. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** `/-/docs`: the API document as a page. `siteUrl` is the URL of the service, for CORS and links. */
export const docsPage =
  (siteUrl: string): Routes =>
  (app) => {
    const sitePath = sitePathOf(siteUrl)
    const page = new FixedText(pageAt(sitePath))
    const start = new FixedText(startAt(sitePath))
    const styles = new FixedText(style)
    const send = (request: FastifyRequest, reply: FastifyReply, text: FixedText, headers: Headers) => {
      reply.hijack()
      sendFixed(beginExchange(request, reply, siteUrl), text, headers)
    }
    app.route({
      method: ['GET', 'HEAD'],
      url: '/-/docs',
      handler: (request, reply) =>
        send(request, reply, page, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy }),
    })
    app.route({
      method: ['GET', 'HEAD'],
      url: `${folder}start.js`,
      handler: (request, reply) => send(request, reply, start, { 'content-type': 'text/javascript; charset=utf-8' }),
    })
    app.route({
      method: ['GET', 'HEAD'],
      url: `${folder}style.css`,
      handler: (request, reply) => send(request, reply, styles, { 'content-type': 'text/css; charset=utf-8' }),
    })
    const { resolve } = createRequire(import.meta.url)
    for (const [name, type] of Object.entries(viewerFiles)) {
      let text: Promise<FixedText> | undefined
      app.route({
        method: ['GET', 'HEAD'],
        url: `${folder}${name}`,
        async handler(request, reply) {
          text ??= readFile(resolve(`swagger-ui-dist/${name}`), 'utf8').then((read) => new FixedText(read))
          send(request, reply, await text, { 'content-type': type })
        },
      })
    }
  }
