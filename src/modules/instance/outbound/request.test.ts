import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { siteAt } from '../../../api/site.ts'
import { Failure } from '../../../kernel/failure.ts'
import { withDefaults } from '../../../settings/settings.ts'
import { type OutboundRequest, sendOutbound } from './request.ts'

const ctx = (settings = {}) => ({
  settings: withDefaults({ outbound_local_requests_whitelist: ['127.0.0.1'], ...settings }),
  site: siteAt('http://stithy.example:3000', 0),
})

async function serving(listener: RequestListener) {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const post = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  url,
  rules: { schemes: ['http', 'https'], purpose: 'hook' },
  headers: { 'content-type': 'application/json' },
  body: '{"a":1}',
  verifiesTls: true,
  timeoutMs: 30_000,
  ...more,
})

describe('outbound requests', () => {
  test('the user name and password of a URL are sent as Basic credentials, and the body as it is', async () => {
    await using server = await serving(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      response.end(`${request.method} ${request.url} ${request.headers.authorization} ${body}`)
    })
    const url = `http://ann:p%40ss@127.0.0.1:${server.port}/x?y=1`
    const basic = Buffer.from('ann:p@ss').toString('base64')
    expect(await sendOutbound(ctx(), post(url))).toMatchObject({
      status: 200,
      body: `POST /x?y=1 Basic ${basic} {"a":1}`,
    })
  })

  test('a redirect is followed with the body, and is refused when it leads to a blocked address', async () => {
    const targets: string[] = []
    await using server = await serving((request, response) => {
      targets.push(`${request.method} ${request.url}`)
      const to = new URLSearchParams(request.url!.split('?')[1]).get('to')
      if (to === null) response.end('here')
      else response.writeHead(307, { location: to }).end()
    })
    expect(await sendOutbound(ctx(), post(`${server.origin}/?to=/there`))).toMatchObject({ status: 200, body: 'here' })
    expect(targets.at(-1)).toBe('POST /there')
    for (const blocked of [
      `http://127.0.0.2:${server.port}/`,
      'http://169.254.169.254/latest/meta-data',
      'http://[::ffff:10.0.0.1]/',
      'file:///etc/passwd',
      'gopher://127.0.0.1/',
    ]) {
      const count = targets.length
      const refused = sendOutbound(ctx(), post(`${server.origin}/?to=${encodeURIComponent(blocked)}`))
      await expect(refused).rejects.toThrow(/^The address is blocked: |^Could not resolve the host$/)
      expect(targets.length).toBe(count + 1)
    }
    await expect(
      sendOutbound(ctx(), post(`${server.origin}/?to=${encodeURIComponent('/?to=/?to=/')}`)),
    ).resolves.toBeDefined()
  })

  test('a loop of redirects ends', async () => {
    await using server = await serving((_request, response) => void response.writeHead(302, { location: '/' }).end())
    await expect(sendOutbound(ctx(), post(server.origin))).rejects.toThrow('Too many redirects')
  })

  test('secret headers are sent to the host of the URL only, not to one that it redirects to', async () => {
    const seen: (string | undefined)[] = []
    const record: RequestListener = (request, response) => {
      seen.push(request.headers['x-secret'] as string | undefined)
      if (request.url === '/other') response.writeHead(307, { location: `${other.origin}/` })
      else if (request.url === '/same') response.writeHead(307, { location: '/' })
      response.end()
    }
    await using other = await serving(record)
    await using server = await serving(record)
    const secretHeaders = { 'x-secret': 'sesame' }
    await sendOutbound(ctx(), post(`${server.origin}/same`, { secretHeaders }))
    await sendOutbound(ctx(), post(`${server.origin}/other`, { secretHeaders }))
    expect(seen).toEqual(['sesame', 'sesame', 'sesame', undefined])
  })

  test('a request goes to the checked address when the name resolves to another afterwards', async () => {
    const hosts: (string | undefined)[] = []
    await using server = await serving((request, response) => {
      hosts.push(request.headers.host)
      response.end('pinned')
    })
    const url = `http://rebinding.example:${server.port}/`
    const answers = [['127.0.0.1'], ['10.0.0.1']]
    const resolve = async () => answers.shift()!
    expect(await sendOutbound(ctx(), post(url), resolve)).toMatchObject({ body: 'pinned' })
    expect(hosts).toEqual([`rebinding.example:${server.port}`])
    await expect(sendOutbound(ctx(), post(url), resolve)).rejects.toThrow('Requests to the local network')
  })

  test('a request goes to the next checked address of the name if the first one does not answer', async () => {
    await using server = await serving((_request, response) => void response.end('second'))
    const settings = { outbound_local_requests_whitelist: ['127.0.0.0/8', '::1'] }
    const url = `http://two.example:${server.port}/`
    const resolve = async () => ['::1', '127.0.0.1']
    expect(await sendOutbound(ctx(settings), post(url), resolve)).toMatchObject({ body: 'second' })
  })

  test('the first KB of a response is read, and a response without end ends the request', async () => {
    await using server = await serving((_request, response) => {
      response.writeHead(200, { 'set-cookie': 'secret=1', 'x-long': 'x'.repeat(2000) })
      const more = setInterval(() => response.write('y'.repeat(10_000)), 1)
      response.on('close', () => clearInterval(more))
    })
    const { body, headers } = await sendOutbound(ctx(), post(server.origin))
    expect(body).toBe('y'.repeat(1024))
    expect(headers['x-long']).toHaveLength(300)
    expect(headers).not.toHaveProperty('set-cookie')
  })

  test('a request without a response fails with a reason and without the URL', async () => {
    await using server = await serving((request, response) => void (request.url === '/hang' || response.destroy()))
    const reasonOf = (path: string, more = {}) =>
      sendOutbound(ctx(), post(`http://ann:sesame@127.0.0.1:${server.port}${path}`, more)).catch(String)
    expect(await reasonOf('/hang', { timeoutMs: 50 })).toBe('OutboundFailure: Timeout')
    expect(await reasonOf('/')).toBe('OutboundFailure: The receiver closed the connection')
  })

  test('failures of this service are thrown as they are, not as those of the receiver', async () => {
    await using server = await serving(async (request, response) => {
      for await (const _ of request);
      response.end('x'.repeat(100_000))
    })
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    const busy = new Failure('unavailable', 'The storage is not available')
    const outcomes = [
      { receive: async () => Promise.reject(full) },
      { receive: async () => Promise.reject(busy) },
      { body: { sizeBytes: 9, open: () => Promise.reject(busy) } },
      {
        body: {
          sizeBytes: 9,
          open: async () =>
            Readable.from(
              (async function* () {
                yield Buffer.from('begun')
                throw busy
              })(),
            ),
        },
      },
    ].map((more) => sendOutbound(ctx(), post(server.origin, more)).catch((error: unknown) => error))
    expect(await Promise.all(outcomes)).toEqual([full, busy, busy, busy])
  })

  test('a file that is opened after the receiver has refused the connection is closed: an open one ends the process', async () => {
    const gone = await serving(() => {})
    await gone[Symbol.asyncDispose]()
    const source = Promise.withResolvers<Readable>()
    const body = {
      sizeBytes: 1,
      async open() {
        await refused
        const file = (await open(import.meta.filename)).createReadStream()
        source.resolve(file)
        return file
      },
    }
    const refused: Promise<unknown> = sendOutbound(ctx(), post(`http://127.0.0.1:${gone.port}/`, { body })).catch(
      String,
    )
    expect(await refused).toBe('OutboundFailure: Connection refused')
    const file = await source.promise
    await expect.poll(() => file.destroyed).toBe(true)
  })
})
