import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { describe, expect } from 'vitest'
import { acceptedEncoding, compressed } from '../../src/edges/http/compress.ts'
import { test, unique, type World } from '../world.ts'

const decoders = { br: brotliDecompressSync, gzip: gunzipSync }

async function ask(world: World, path: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') {
  const answer = await request(`${world.origin}${path}`, {
    method,
    headers: { 'private-token': world.root.token!, ...headers },
  })
  const body = Buffer.from(await answer.body.arrayBuffer())
  return { status: answer.statusCode, headers: answer.headers, body }
}

describe('compression', () => {
  test.for(['br', 'gzip'] as const)(
    '%s: a response above 1 KB is compressed; body and ETag are the same',
    async (encoding, { world }) => {
      const path = '/api/v4/application/settings'
      const plain = await ask(world, path)
      expect(plain.headers).toMatchObject({ vary: 'Origin, Accept-Encoding', 'x-content-type-options': 'nosniff' })
      expect(plain.headers).not.toHaveProperty('content-encoding')
      expect(plain.body.length).toBeGreaterThan(1024)
      // The second one comes from the cache.
      for (let round = 0; round < 2; round++) {
        const small = await ask(world, path, { 'accept-encoding': `deflate, ${encoding}` })
        expect(small.headers).toMatchObject({
          'content-encoding': encoding,
          'content-length': String(small.body.length),
          vary: 'Origin, Accept-Encoding',
          etag: plain.headers['etag'],
        })
        expect(small.body.length).toBeLessThan(plain.body.length / 2)
        expect(decoders[encoding](small.body)).toEqual(plain.body)
      }
      for (const accepted of [encoding, 'identity']) {
        const same = await ask(world, path, {
          'accept-encoding': accepted,
          'if-none-match': String(plain.headers['etag']),
        })
        expect({ status: same.status, size: same.body.length }).toEqual({ status: 304, size: 0 })
        expect(same.headers).toMatchObject({ vary: 'Origin, Accept-Encoding', etag: plain.headers['etag'] })
      }
      const head = await ask(world, path, { 'accept-encoding': encoding }, 'HEAD')
      expect(head).toMatchObject({
        status: 200,
        headers: { 'content-encoding': encoding, etag: plain.headers['etag'] },
      })
    },
  )

  test('a list of cached records, a page and the API document are compressed', async ({ world }) => {
    await world.project()
    for (const path of ['/api/v4/projects?per_page=100', '/openapi.json', '/-/docs/swagger-ui.css']) {
      const [plain, small] = [await ask(world, path), await ask(world, path, { 'accept-encoding': 'gzip, br' })]
      expect(small.headers['content-encoding'], path).toBe('br')
      expect(brotliDecompressSync(small.body).equals(plain.body), path).toBe(true)
    }
  })

  test('short responses, raw files, git and errors are not compressed', async ({ world }) => {
    const project = await world.project()
    const content = 'a line of text\n'.repeat(200)
    const made = await world.root.post(`/projects/${project.id}/repository/files/file`, {
      branch: 'main',
      content,
      commit_message: 'add a file',
    })
    expect(made.status, made.text).toBe(201)
    const refs = `/${project.full_path}.git/info/refs?service=git-upload-pack`
    const raw = `/api/v4/projects/${project.id}/repository/files/file/raw?ref=main`
    expect((await ask(world, raw)).body.toString()).toBe(content)
    for (const path of ['/api/v4/version', raw, refs, '/api/v4/none']) {
      const answer = await ask(world, path, {
        'accept-encoding': 'gzip, br',
        ...(path === refs && { authorization: `Basic ${Buffer.from(`root:${world.root.token}`).toString('base64')}` }),
      })
      expect(answer.headers, path).not.toHaveProperty('content-encoding')
    }
    const part = await ask(world, raw, { 'accept-encoding': 'gzip, br', range: 'bytes=0-9' })
    expect(part.headers).not.toHaveProperty('content-encoding')
  })

  test('two large bodies are compressed at a time, and small ones meanwhile', async () => {
    const body = (bytes: number) => Buffer.alloc(bytes, unique('text'))
    const [first, second, third, small] = [
      compressed(body(4_000_000), 'br'),
      compressed(body(4_000_001), 'gzip'),
      compressed(body(4_000_002), 'br'),
      compressed(body(4_000), 'br'),
    ]
    expect(third).toBeUndefined()
    expect((await Promise.all([first, second, small])).every((made) => made !== undefined)).toBe(true)
    expect(await compressed(body(4_000_003), 'br')).toBeDefined()
  })

  test('responses with tokens are not compressed', async ({ world }) => {
    const ann = await world.user()
    const long = unique('x').padEnd(250, 'y')
    const responses = [
      await request(`${world.origin}/oauth/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'accept-encoding': 'gzip, br' },
        body: JSON.stringify({ grant_type: 'password', username: ann.username, password: 'correct horse battery' }),
      }),
      await request(`${world.origin}/api/v4/users/${ann.id}/personal_access_tokens`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'accept-encoding': 'gzip, br',
          'private-token': world.root.token!,
        },
        body: JSON.stringify({ name: long, scopes: ['api'] }),
      }),
    ]
    for (const { statusCode, headers, body } of responses) {
      expect(await body.text()).toMatch(/token/)
      expect([200, 201]).toContain(statusCode)
      expect(headers).not.toHaveProperty('content-encoding')
    }
  })

  test.for([
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['br;q=0.5, gzip;q=0.8', 'gzip'],
    ['br;q=0, gzip;q=0', undefined],
    ['GZIP ; q=1', 'gzip'],
    ['identity', undefined],
    ['*', undefined],
    ['', undefined],
    [undefined, undefined],
  ] as const)('Accept-Encoding: %s is answered in %s', ([header, encoding]) => {
    expect(acceptedEncoding(header)).toBe(encoding)
  })
})
