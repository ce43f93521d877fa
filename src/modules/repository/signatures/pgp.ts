import type { Key, SignaturePacket } from 'openpgp'

/** The one packet of an OpenPGP signature of a document that is meant to last, with the key it names. */
export type PgpSignature = {
  readonly packet: SignaturePacket
  /** Upper-case hex, 16 digits. */
  readonly keyId: string
  readonly armored: string
}

/** Longer ones are not looked at. */
const maximumLength = 16 * 1024

/** One block and nothing else: the library reads past what follows. */
const isOneBlock = (armored: string): boolean =>
  armored.indexOf('-----BEGIN', 1) < 0 && armored.trimEnd().endsWith('\n-----END PGP SIGNATURE-----')

/**
 * `undefined` for what is malformed, is more than one signature, signs no document (a standalone signature would fit any),
 * or ends some day: what was verified stays verified.
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

/** Whether this key, as it was when it signed, signed these bytes. */
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
