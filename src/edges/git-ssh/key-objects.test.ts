import { KeyObject } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import ssh2 from 'ssh2'
import { expect, test } from 'vitest'
import { keepKeyObjects } from './key-objects.ts'
import { newKeyPair } from './key-pair.ts'

test.for([
  ['aes128-gcm@openssh.com', ['_encKey', '_decipherKey']],
  ['aes128-ctr', ['_macKey', '_macKey']],
] as const)('with %s the SSH library holds its keys as key objects where we expect them', async ([cipher, names]) => {
  const found = Promise.withResolvers<unknown[]>()
  const hostKeys = [newKeyPair().private]
  const server = new ssh2.Server({ hostKeys }, (connection) => {
    keepKeyObjects(connection)
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
