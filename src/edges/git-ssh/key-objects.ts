import { createSecretKey } from 'node:crypto'
import type { Connection } from 'ssh2'

/** Private fields in which the library stores the keys of a connection. Any of them may be missing in another version. */
type Insides = { readonly _protocol?: { readonly _cipher?: Keyed; readonly _decipher?: Keyed } }
type Keyed = { _encKey?: unknown; _decipherKey?: unknown; _macKey?: unknown }

/**
 * Replaces the library's keys by `KeyObject`s after each key exchange. The library creates a cipher or a digest per packet,
 * which takes Node ten times as long with the bytes of a key.
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
