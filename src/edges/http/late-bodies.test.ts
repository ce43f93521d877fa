import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { test, World } from '../../../test/world.ts'

const size = 8 * 1024 * 1024

/** A connection, and what the server has sent on it. */
async function open({ origin }: World): Promise<{ socket: Socket; received: () => string; failed: () => unknown }> {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
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

  test('a client that sends more, or takes longer, than is discarded is disconnected', async () => {
    await using world = await World.start({}, { httpLimits: { lateBody: { bytes: size, ms: 300 } } })
    const slow = await open(world)
    slow.socket.write(head('POST', '/api/v4/projects'))
    await closing(slow.socket)
    expect(slow.received()).toContain('HTTP/1.1 401 ')

    await using large = await World.start({}, { httpLimits: { lateBody: { bytes: size, ms: 1_000_000 } } })
    const { socket, received } = await open(large)
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
