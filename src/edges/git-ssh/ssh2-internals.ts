import { createSecretKey } from 'node:crypto'
import type { Connection, Session } from 'ssh2'

/*
 * The only file that uses members of ssh2 which its types leave out. They are those of ssh2 1.17.0, the pinned version;
 * ssh2-internals.test.ts fails when another version moves one.
 */

/** Where ssh2 stores the keys of a connection. Any of it may be missing: the connection is then slower, but works. */
type Internals = { readonly _protocol?: { readonly _cipher?: Keyed; readonly _decipher?: Keyed } }
type Keyed = { _encKey?: unknown; _decipherKey?: unknown; _macKey?: unknown }

/**
 * Replaces the keys of a connection by `KeyObject`s after each key exchange. ssh2 creates a cipher or a digest for each
 * packet, which takes Node ten times as long with the bytes of a key.
 */
export function useKeyObjects(connection: Connection): void {
  connection.on('handshake', () => {
    const { _cipher, _decipher } = (connection as Internals)._protocol ?? {}
    for (const keyed of [_cipher, _decipher])
      for (const name of ['_encKey', '_decipherKey', '_macKey'] as const) {
        const key = keyed?.[name]
        if (key instanceof Uint8Array) keyed![name] = createSecretKey(key)
      }
  })
}

type Channelled = { readonly _chanInfo?: { readonly outgoing?: { readonly packetSize?: number } } }

/** The largest packet that the client takes in a session, in bytes. The library writes packets of this size, even of 0 bytes for ever. */
export const packetBytesOf = (session: Session): number =>
  (session as Channelled)._chanInfo?.outgoing?.packetSize ?? Number.POSITIVE_INFINITY
