import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { basic, launchLogged } from '../logged-service.ts'
import { eventually } from '../waiting.ts'

test('a large file and a push that their client does not finish are logged with status 499, not as successes', async () => {
  const { origin, root, lines } = await launchLogged()
  await root.post('/projects', { name: 'cut' })
  const oid = 'a'.repeat(64)
  const { authorization } = basic('root', root.token!)
  const command = `${'0'.repeat(40)} ${'1'.repeat(40)} refs/heads/main\0 report-status object-format=sha1`
  const requests = [
    ['PUT', `/root/cut.git/gitlab-lfs/objects/${oid}/1000000`, 'part of it'],
    [
      'POST',
      '/root/cut.git/git-receive-pack',
      `${(command.length + 4).toString(16).padStart(4, '0')}${command}0000PACK`,
    ],
  ] as const
  for (const [method, path, part] of requests) {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write(
      `${method} ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\nexpect: 100-continue\r\ncontent-length: 1000000\r\n\r\n`,
    )
    // The server reads the body.
    await once(socket, 'data')
    socket.write(part)
    socket.destroy()
    await eventually(() => expect(lines()).toContainEqual(expect.objectContaining({ method, path })))
    expect(lines()).toContainEqual(expect.objectContaining({ method, path, status: 499 }))
  }
})
