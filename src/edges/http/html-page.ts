import type { IncomingMessage } from 'node:http'
import { escaped } from '../../kernel/html.ts'
import type { Headers } from './answer.ts'

/** A page without scripts and styles. `body` is HTML. */
export type Page = { readonly status: number; readonly title: string; readonly body: string }

export const pageHeaders: Headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
}

export const html = ({ title, body }: Page): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(title)}</title>
</head>
<body>
<h1>${escaped(title)}</h1>
${body}
</body>
</html>
`

/** Below these addresses, responses are JSON whatever the client accepts: some clients of the API send the Accept of a browser. */
const forPrograms = /^\/(api|oauth)(\/|$)/

/** Whether a URL answers browsers with pages; its responses vary by `Accept`. */
export const hasPages = ({ url = '' }: IncomingMessage): boolean => !forPrograms.test(url.split('?', 1)[0]!)

/** Whether the request is that of a browser for a page: its `Accept` names HTML, and not JSON before it. */
export function wantsPage(req: IncomingMessage): boolean {
  if ((req.method !== 'GET' && req.method !== 'HEAD') || !hasPages(req)) return false
  const types = (req.headers.accept ?? '').split(',').map((each) => each.split(';', 1)[0]!.trim().toLowerCase())
  const [page, json] = [types.indexOf('text/html'), types.indexOf('application/json')]
  return page >= 0 && (json < 0 || page < json)
}

const links = (
  siteUrl: string,
): string => `<p>This is Stithy, a service for Git repositories. Use it with Git and with its HTTP API:</p>
<ul>
<li><a href="${escaped(siteUrl)}/-/docs">The API</a>: every call, with its parameters and records</li>
<li><code>git clone ${escaped(siteUrl)}/group/project.git</code></li>
<li><a href="${escaped(siteUrl)}/-/users/password/new">Forgot your password?</a></li>
</ul>`

/** The page at the root of the service. */
export const welcomePage = (siteUrl: string): Page => ({ status: 200, title: 'Stithy', body: links(siteUrl) })

/** An error as a page. The same for missing and for private projects, users and groups. */
export function errorPage(status: number, siteUrl: string): Page {
  const [title, sentence] = texts[status] ?? (status < 500 ? refused : failed)
  return { status, title, body: `<p>${escaped(sentence)}</p>\n${links(siteUrl)}` }
}

const refused = ['This request was refused', 'The service does not answer this request.'] as const
const failed = ['Something went wrong', 'Try again later.'] as const
const texts: Readonly<Record<number, readonly [title: string, sentence: string]>> = {
  401: ['Sign-in required', 'The address needs an access token.'],
  403: ['Access denied', 'Your account or token does not have the permission.'],
  404: [
    'There is no page here',
    'Users, groups and projects have no pages yet. Or the address is wrong, or needs an access token.',
  ],
  429: ['Too many requests', 'Try again later.'],
}
