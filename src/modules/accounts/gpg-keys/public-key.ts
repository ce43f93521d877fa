import type { Key } from 'openpgp'
import { storable } from '../../../kernel/storable.ts'

/** Name and e-mail address in a user id of a key. */
export type Identity = { readonly name: string; readonly email: string }

/** A public key as `gpg --armor --export` writes it. Fingerprints and key ids are upper-case hex. */
export type GpgPublicKey = {
  readonly fingerprint: string
  readonly keyId: string
  /** User ids that the key itself certifies and has not revoked. */
  readonly identities: readonly Identity[]
  /** All subkeys bound to the key, for any purpose, expired or not. */
  readonly subkeys: readonly { readonly fingerprint: string; readonly keyId: string }[]
}

/** Maximum characters of a key block; longer ones are refused unread. */
export const maximumKeyLength = 128 * 1024

/** Maximum packets of a key; each may cost a signature verification. */
const maxPackets = 500
/** A verification with a larger RSA key takes milliseconds. */
const maxRsaBits = 8192
/** Maximum verifications of one user id: each of its certifications may be verified with each of its revocations. */
const maxVerifications = 500
/** Maximum total time for one key, checked between its parts. */
const timeoutMs = 2000

export const blockBegin = '-----BEGIN PGP PUBLIC KEY BLOCK-----'
export const blockEnd = '-----END PGP PUBLIC KEY BLOCK-----'

/** Whether a text is a single armoured block, whatever its content. */
export const isKeyBlock = (text: string): boolean =>
  text.startsWith(blockBegin) && text.endsWith(blockEnd) && text.indexOf('-----BEGIN', 1) < 0

/**
 * Parses the block of one public key that certifies a user id of its own. `undefined` for anything else and for keys
 * above the limits.
 */
export async function parseGpgKey(text: string): Promise<GpgPublicKey | undefined> {
  const key = await readKeyBlock(text)
  if (!key || key.toPacketList().length > maxPackets || (key.getAlgorithmInfo().bits ?? 0) > maxRsaBits)
    return undefined
  const deadline = performance.now() + timeoutMs
  const identities: Identity[] = []
  for (const user of key.users) {
    if (performance.now() > deadline) return undefined
    if (user.selfCertifications.length * (1 + user.revocationSignatures.length) > maxVerifications) return undefined
    if (user.userID && (await holds(user.verify())))
      identities.push({ name: storable(user.userID.name ?? ''), email: storable(user.userID.email ?? '') })
  }
  const subkeys: GpgPublicKey['subkeys'][number][] = []
  for (const subkey of key.subkeys) {
    if (performance.now() > deadline) return undefined
    if ((subkey.getAlgorithmInfo().bits ?? 0) <= maxRsaBits && (await holds(subkey.verify(anyTime))))
      subkeys.push(namesOf(subkey))
  }
  return identities.length === 0 ? undefined : { ...namesOf(key), identities, subkeys }
}

/**
 * Parses the block into a key for verification; `undefined` if it is not exactly one public key. One of DSA is refused, and such subkeys
 * are left out: the library accepts no signatures by them, but verifies with them what the key says of itself, with numbers of any length,
 * for minutes during which the process does nothing else.
 */
export async function readKeyBlock(text: string): Promise<Key | undefined> {
  if (text.length > maximumKeyLength || !isKeyBlock(text)) return undefined
  // Loaded on first use: the library is large, and most processes parse no key.
  const { readKeys } = await import('openpgp')
  const keys = await readKeys({ armoredKeys: text }).catch(() => [])
  const [key] = keys
  if (!key || keys.length !== 1 || key.isPrivate() || isDsa(key)) return undefined
  key.subkeys = key.subkeys.filter((subkey) => !isDsa(subkey))
  return key
}

const isDsa = (key: Pick<Key, 'getAlgorithmInfo'>): boolean => key.getAlgorithmInfo().algorithm === 'dsa'

/** Checks without a time, so that expired bindings count: the library accepts `null`, which its type omits. */
const anyTime = null as unknown as Date

const namesOf = (key: Pick<Key, 'getFingerprint' | 'getKeyID'>) => ({
  fingerprint: key.getFingerprint().toUpperCase(),
  keyId: key.getKeyID().toHex().toUpperCase(),
})

const holds = (check: Promise<unknown>): Promise<boolean> =>
  check.then(
    () => true,
    () => false,
  )
