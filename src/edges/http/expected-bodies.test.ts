import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect } from 'vitest'
import { isInstalled, titleFor } from '../../../test/programs/installed.ts'
import { run } from '../../../test/programs/run.ts'
import { test, unique, type World } from '../../../test/world.ts'

/** Sends these bytes, and returns what the server sends until it says how the request ends. */
async function answerTo(
  { origin }: World,
  bytes: string,
): Promise<{ text: string; send: (more: string) => Promise<string> }> {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
  })
  socket.on('error', () => {})
  await once(socket, 'connect')
  const send = async (more: string) => {
    const before = text.length
    socket.write(more)
    await expect.poll(() => text.slice(before)).toContain('\r\n\r\n')
    return text.slice(before)
  }
  return { text: await send(bytes), send }
}

const head = (
  path: string,
  { token = '', size = 1_000_000, method = 'POST', type = 'application/json', version = '1.1' },
) =>
  `${method} ${path} HTTP/${version}\r\nhost: x\r\nexpect: 100-continue\r\ncontent-type: ${type}\r\ncontent-length: ${size}\r\n${
    token && `private-token: ${token}\r\n`
  }\r\n`

describe('clients that wait with the body (Expect: 100-continue)', () => {
  test('one whose request is accepted gets 100, and can send more requests', async ({ world }) => {
    const body = JSON.stringify({ text: '*x*' })
    const { text, send } = await answerTo(
      world,
      head('/api/v4/markdown', { token: world.root.token!, size: body.length }),
    )
    expect(text).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    const answer = await send(body)
    expect(answer).toContain('HTTP/1.1 201 ')
    expect(answer).not.toMatch(/connection: close/i)
    expect(await send('GET /-/liveness HTTP/1.1\r\nhost: x\r\n\r\n')).toContain('HTTP/1.1 200 ')
  })

  const oid = 'a'.repeat(64)
  test.for([
    ['a request to the API', '/api/v4/projects', {}, 401],
    ['a path that does not exist', '/api/v4/nothing', {}, 404],
    ['a body that is too large', '/api/v4/markdown', { size: 100_000_000 }, 413],
    ['a body of an unknown type', '/api/v4/markdown', { type: 'text/plain' }, 415],
    ['a push', '/a/b.git/git-receive-pack', {}, 401],
    ['a large file', `/a/b.git/gitlab-lfs/objects/${oid}/1000000`, { method: 'PUT' }, 401],
    ['a manifest', '/v2/a/b/manifests/latest', { method: 'PUT' }, 401],
    ['a layer', '/v2/a/b/blobs/uploads/7b3d1f3e-4e8c-4e33-9b6f-0a7a4f1f2d10', { method: 'PATCH' }, 401],
    ['an expectation that is unknown', '/api/v4/markdown', {}, 417],
  ] as const)(
    '%s that is refused gets the status instead, and the connection is closed',
    async ([, path, options, status], { world }) => {
      const asked = head(path, options)
      const { text } = await answerTo(world, status === 417 ? asked.replace('100-continue', 'payment') : asked)
      expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
      if (status !== 417) expect(text).toMatch(/\r\nconnection: close\r\n/i)
    },
  )

  test('one of HTTP/1.0 gets no 100, which it would not understand', async ({ world }) => {
    const { text } = await answerTo(
      world,
      `${head('/api/v4/markdown', { size: 2, version: '1.0', token: world.root.token! })}{}`,
    )
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
  })

  test.skipIf(!isInstalled('curl'))(
    `${titleFor('curl')} uploads a file, and learns that its token is wrong without sending it`,
    async ({ world }) => {
      const project = await world.project()
      const url = `${world.origin}/api/v4/projects/${project.id}/uploads`
      const written = ['-sS', '-o', '/dev/null', '-w', '%{http_code} %{size_upload}', '--expect100-timeout', '60']
      const upload = async (token: string) => {
        const form = ['-H', `private-token: ${token}`, '-F', `file=@-;filename=${unique('file')}`, url]
        return (await run('curl', [...written, ...form], { input: Buffer.alloc(2_000_000) })).stdout.split(' ')
      }
      expect((await upload(world.root.token!))[0]).toBe('201')
      expect(await upload('wrong')).toEqual(['401', '0'])
    },
  )
})
