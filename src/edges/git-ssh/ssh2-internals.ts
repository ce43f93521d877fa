import { createSecretKey } from 'node:crypto'
import type { Connection, Session } from 'ssh2'

/*
 * The only file that uses members of ssh2 which its types leave out. They are those of ssh2 1.17.0, the pinned version;
 * ssh2-internals.test.ts fails when another version moves one.
 */

/** Where ssh2 stores the keys of a connection. Any of it may be missing: the connection is then slower, but works. */
type Internals = { readonly _protocol?: Negotiating & { readonly _cipher?: Keyed; readonly _decipher?: Keyed } }
type Negotiating = { readonly _kexinit?: Uint8Array; readonly _kex?: { readonly _remoteKexinit?: Uint8Array } }
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

/**
 * Takes the first packet of a key exchange that a client sends with its offer because it guesses which one both sides prefer, as dropbear
 * does. ssh2 drops the packet, as it should after a wrong guess (RFC 4253, section 7.1), but also after a right one: both sides would then wait
 * for each other. Must be called before the client's offer is read.
 */
export function takeRightGuesses(connection: Connection): void {
  const protocol = (connection as Internals)._protocol
  if (!protocol) return
  let drops = false
  Object.defineProperty(protocol, '_skipNextInboundPacket', {
    get: () => {
      const [ours, theirs] = [protocol._kexinit, protocol._kex?._remoteKexinit]
      if (drops && ours && theirs && preferred(ours) === preferred(theirs)) drops = false
      return drops
    },
    set: (value: boolean) => {
      drops = value
    },
  })
}

/** The first key exchange and the first kind of host key in an offer: a type and a cookie of 16 bytes, then lists of names. */
function preferred(offer: Uint8Array): string {
  const bytes = Buffer.from(offer.buffer, offer.byteOffset, offer.byteLength)
  const firstOf = (at: number) => bytes.toString('latin1', at + 4, at + 4 + bytes.readUInt32BE(at)).split(',', 1)
  return `${firstOf(17)} ${firstOf(17 + 4 + bytes.readUInt32BE(17))}`
}

type Channelled = { readonly _chanInfo?: { readonly outgoing?: { readonly packetSize?: number } } }

/** The largest packet that the client takes in a session, in bytes. The library writes packets of this size, even of 0 bytes for ever. */
export const packetBytesOf = (session: Session): number =>
  (session as Channelled)._chanInfo?.outgoing?.packetSize ?? Number.POSITIVE_INFINITY
