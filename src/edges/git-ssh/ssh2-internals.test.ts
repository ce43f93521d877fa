import { KeyObject } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import ssh2 from 'ssh2'
import { expect, test } from 'vitest'
import { installedVersion } from '../../../test/installed-version.ts'
import { newKeyPair } from './key-pair.ts'
import { useKeyObjects } from './ssh2-internals.ts'

test('ssh2 has the version whose internals we use', () => {
  expect(installedVersion('ssh2')).toBe('1.17.0')
})

test.for([
  ['aes128-gcm@openssh.com', ['_encKey', '_decipherKey']],
  ['aes128-ctr', ['_macKey', '_macKey']],
] as const)('ssh2 stores the keys of %s where we replace them by key objects', async ([cipher, names]) => {
  const found = Promise.withResolvers<unknown[]>()
  const hostKeys = [newKeyPair().private]
  const server = new ssh2.Server({ hostKeys }, (connection) => {
    useKeyObjects(connection)
    connection.on('error', () => {})
    connection.on('authentication', () => {
      const { _cipher, _decipher } = (connection as any)._protocol
      found.resolve([_cipher[names[0]], _decipher[names[1]]])
      connection.end()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = new ssh2.Client().on('error', () => {})
  const { port } = server.address() as AddressInfo
  client.connect({ host: '127.0.0.1', port, username: 'git', algorithms: { cipher: [cipher] } })
  for (const key of await found.promise) expect(key).toBeInstanceOf(KeyObject)
  client.end()
  server.close()
})
