import type { Key, SignaturePacket } from 'openpgp'

/** A single OpenPGP signature of a document without expiry, with the id of its key. */
export type PgpSignature = {
  readonly packet: SignaturePacket
  /** Upper-case hex, 16 digits. */
  readonly keyId: string
  readonly armored: string
}

/** Maximum characters; longer signatures are not parsed. */
const maximumLength = 16 * 1024

/** One block and nothing else: the library would continue reading after the block. */
const isOneBlock = (armored: string): boolean =>
  armored.indexOf('-----BEGIN', 1) < 0 && armored.trimEnd().endsWith('\n-----END PGP SIGNATURE-----')

/**
 * `undefined` if it is malformed, has more than one signature, signs no document (a standalone signature fits any), or
 * expires: what was verified must stay verified.
 */
export async function parsePgpSignature(armored: string): Promise<PgpSignature | undefined> {
  if (armored.length > maximumLength || !isOneBlock(armored)) return undefined
  const { enums, readSignature } = await import('openpgp')
  const read = await readSignature({ armoredSignature: armored }).catch(() => undefined)
  const [packet, ...others] = read?.packets ?? []
  if (!packet || others.length > 0 || packet.signatureType !== enums.signature.binary) return undefined
  if (packet.getExpirationTime() !== Infinity) return undefined
  return { packet, keyId: packet.issuerKeyID.toHex().toUpperCase(), armored }
}

/** Whether this key, as it was at the time of signing, signed these bytes. */
export async function verifiesPgp({ armored }: PgpSignature, key: Key, payload: Buffer): Promise<boolean> {
  try {
    const { createMessage, readSignature, verify } = await import('openpgp')
    const { signatures } = await verify({
      message: await createMessage({ binary: payload }),
      signature: await readSignature({ armoredSignature: armored }),
      verificationKeys: key,
      format: 'binary',
    })
    return signatures.length === 1 && (await signatures[0]!.verified)
  } catch {
    return false
  }
}
