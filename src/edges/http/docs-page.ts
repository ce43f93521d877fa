import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Headers, sendText } from './answer.ts'
import { beginExchange } from './exchange.ts'
import type { Routes } from './server.ts'

const script = '/-/docs/rapidoc-min.js'

/** Loads nothing from other hosts: no fonts, no images, and the specification from this server. */
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Stithy API</title>
<script type="module" src="${script}"></script>
</head>
<body>
<rapi-doc spec-url="/openapi.json" load-fonts="false" regular-font="system-ui, sans-serif" mono-font="ui-monospace, monospace"
  render-style="focused" schema-style="table" show-header="false" allow-spec-url-load="false" allow-spec-file-load="false"
  allow-server-selection="false" sort-tags="true" use-path-in-nav-bar="true" show-method-in-nav-bar="as-colored-text"></rapi-doc>
</body>
</html>
`

/** The viewer adds inline styles; scripts come only from this server. */
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

/** `/-/docs`: the API reference as a page. `siteUrl` is the site's own origin, for CORS. */
export const docsPage =
  (siteUrl: string): Routes =>
  (app) => {
    const send = (request: FastifyRequest, reply: FastifyReply, text: string, headers: Headers) => {
      reply.hijack()
      sendText(beginExchange(request.raw, reply.raw, siteUrl), 200, text, headers)
    }
    app.route({
      method: ['GET', 'HEAD'],
      url: '/-/docs',
      handler: (request, reply) =>
        send(request, reply, page, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy }),
    })
    let viewer: Promise<string> | undefined
    app.route({
      method: ['GET', 'HEAD'],
      url: script,
      async handler(request, reply) {
        viewer ??= readFile(createRequire(import.meta.url).resolve('rapidoc'), 'utf8')
        send(request, reply, await viewer, { 'content-type': 'text/javascript; charset=utf-8' })
      },
    })
  }
