import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { test, World } from '../../../test/world.ts'

const size = 8 * 1024 * 1024

/** A connection, and what the server has sent on it. */
async function open(
  { origin }: World,
  allowHalfOpen = true,
): Promise<{ socket: Socket; received: () => string; failed: () => unknown }> {
  const socket = connect({ port: Number(new URL(origin).port), host: '127.0.0.1', allowHalfOpen })
  await once(socket, 'connect')
  let text = ''
  let error: unknown
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
  })
  socket.on('error', (thrown) => {
    error = thrown
  })
  return { socket, received: () => text, failed: () => error }
}

/** Resolves when the connection is closed, with or without an error. */
const closing = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))

const head = (method: string, path: string, type = 'application/json') =>
  `${method} ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: ${type}\r\ncontent-length: ${size}\r\n\r\n`

const refused = [
  ['a request to the API', head('POST', '/api/v4/projects'), 401],
  ['a request to an unknown path of the API', head('POST', '/api/v4/nothing'), 404],
  ['a body that is too large', head('POST', '/api/v4/markdown').replace(`${size}`, `${size * 100}`), 413],
  ['a push', head('POST', '/some/project.git/git-receive-pack', 'application/x-git-receive-pack-request'), 401],
  ['an upload to LFS', head('PUT', `/some/project.git/gitlab-lfs/objects/${'a'.repeat(64)}/${size}`), 401],
  ['a manifest', head('PUT', '/v2/some/project/manifests/latest'), 401],
  ['a layer', head('PATCH', '/v2/some/project/blobs/uploads/7b3d1f3e-4e8c-4e33-9b6f-0a7a4f1f2d10'), 401],
] as const

describe('requests that are refused before their body has arrived', () => {
  test.for(refused)(
    'the client of %s can send its body, and its next request',
    async ([, bytes, status], { world }) => {
      const { socket, received, failed } = await open(world)
      socket.write(bytes)
      socket.write(Buffer.alloc(size / 2))
      await expect.poll(received).toContain(`HTTP/1.1 ${status} `)
      // A connection that was closed with unread data refuses what comes now.
      await sleep(50)
      if (status === 413) {
        socket.write(Buffer.alloc(size))
        await sleep(50)
      } else {
        socket.write(Buffer.alloc(size / 2))
        socket.write('GET /-/liveness HTTP/1.1\r\nhost: x\r\n\r\n')
        await expect.poll(received).toContain('HTTP/1.1 200 ')
      }
      expect(failed()).toBeUndefined()
      socket.destroy()
    },
  )

  const last = [
    ['Connection: close', (bytes: string) => bytes.replace('\r\n', '\r\nconnection: close\r\n')],
    ['HTTP/1.0', (bytes: string) => bytes.replace('HTTP/1.1', 'HTTP/1.0')],
  ] as const

  test.for(
    last.flatMap(([how, asked]) => refused.map(([what, bytes, status]) => [what, how, asked(bytes), status] as const)),
  )(
    'the client of %s that closes the connection afterwards (%s) can send its body',
    async ([, , bytes, status], { world }) => {
      const { socket, received, failed } = await open(world)
      const ended = once(socket, 'end')
      socket.write(bytes)
      socket.write(Buffer.alloc(size / 2))
      await expect.poll(received).toContain(`HTTP/1.1 ${status} `)
      await ended
      const closed = closing(socket)
      socket.end(Buffer.alloc(size / 2))
      await closed
      expect(failed()).toBeUndefined()
    },
  )

  test('the client of a malformed request, or of one whose header is too long, can send its body', async ({
    world,
  }) => {
    for (const [line, status] of [
      ['no colon', 400],
      [`x: ${'a'.repeat(20_000)}`, 431],
    ] as const) {
      const { socket, received, failed } = await open(world)
      const closed = closing(socket)
      socket.write(head('POST', '/api/v4/projects').replace('host: x', line))
      await expect.poll(received).toContain(`HTTP/1.1 ${status} `)
      for (let n = 0; n < 4; n++) {
        socket.write(Buffer.alloc(size / 4))
        await sleep(10)
      }
      socket.end()
      await closed
      expect(failed()).toBeUndefined()
      expect(received().match(/HTTP\/1\.1/g)).toHaveLength(1)
    }
  })

  test('a client that sends more, or takes longer, than is discarded is disconnected', async () => {
    await using world = await World.start({}, { httpLimits: { lateBody: { bytes: size, ms: 300 } } })
    const slow = await open(world, false)
    slow.socket.write(head('POST', '/api/v4/projects'))
    await closing(slow.socket)
    expect(slow.received()).toContain('HTTP/1.1 401 ')

    await using large = await World.start({}, { httpLimits: { lateBody: { bytes: size, ms: 1_000_000 } } })
    const { socket, received } = await open(large, false)
    socket.write(head('POST', '/api/v4/projects').replace(`${size}`, `${size * 100}`))
    await expect.poll(received).toContain('HTTP/1.1 401 ')
    const closed = closing(socket)
    for (let n = 0; n < 100 && !socket.destroyed; n++) {
      socket.write(Buffer.alloc(size / 8))
      await sleep(1)
    }
    await closed
  })
})
