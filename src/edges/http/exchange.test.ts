import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { beginExchange } from './exchange.ts'

const allowed = (origin: string, siteUrl: string) => {
  const req = { headers: { origin } } as IncomingMessage
  const request = { raw: req, ip: '127.0.0.1', routeOptions: {} }
  const { headers } = beginExchange(request, { raw: {} as ServerResponse }, siteUrl)
  return [headers['access-control-allow-origin'], headers['access-control-allow-credentials']]
}

test.for(['https://git.example', 'https://git.example/forge'])(
  'only pages of the origin of %s may send credentials',
  (url) => {
    expect(allowed('https://git.example', url)).toEqual(['https://git.example', 'true'])
    for (const other of ['https://git.example.evil', 'http://git.example', 'null'])
      expect(allowed(other, url)).toEqual(['*', undefined])
  },
)
