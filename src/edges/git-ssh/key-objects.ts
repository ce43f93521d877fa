import { createSecretKey } from 'node:crypto'
import type { Connection } from 'ssh2'

/** Where the library keeps the keys of a connection. None of it is promised, so all of it may be missing. */
type Insides = { readonly _protocol?: { readonly _cipher?: Keyed; readonly _decipher?: Keyed } }
type Keyed = { _encKey?: unknown; _decipherKey?: unknown; _macKey?: unknown }

/**
 * Gives the library its keys as `KeyObject`s, for it makes a cipher or a digest of each packet: with the bytes of a key,
 * Node takes ten times as long for that. After each exchange of keys.
 */
export function keepKeyObjects(connection: Connection): void {
  connection.on('handshake', () => {
    const { _cipher, _decipher } = (connection as Insides)._protocol ?? {}
    for (const keyed of [_cipher, _decipher])
      for (const name of ['_encKey', '_decipherKey', '_macKey'] as const) {
        const key = keyed?.[name]
        if (key instanceof Uint8Array) keyed![name] = createSecretKey(key)
      }
  })
}
