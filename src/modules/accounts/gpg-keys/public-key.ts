import type { Key } from 'openpgp'

/** What a key says of its owner. */
export type Identity = { readonly name: string; readonly email: string }

/** A public key as `gpg --armor --export` writes it. Fingerprints and key ids are upper-case hex. */
export type GpgPublicKey = {
  readonly fingerprint: string
  readonly keyId: string
  /** Those that the key itself certifies and has not revoked. */
  readonly identities: readonly Identity[]
  /** Those that are bound to the key, whatever for and however long. */
  readonly subkeys: readonly { readonly fingerprint: string; readonly keyId: string }[]
}

/** Longer blocks are not looked at. */
export const maximumKeyLength = 128 * 1024

/** Each packet may cost a verification. */
const mostPackets = 500
/** A verification with a larger one takes milliseconds. */
const largestRsaBits = 8192
/** What a key may cost in all; looked at between its parts. */
const longestMs = 2000

export const blockBegin = '-----BEGIN PGP PUBLIC KEY BLOCK-----'
export const blockEnd = '-----END PGP PUBLIC KEY BLOCK-----'

/** Whether a text is one armoured block, whatever stands in it. */
export const isKeyBlock = (text: string): boolean =>
  text.startsWith(blockBegin) && text.endsWith(blockEnd) && text.indexOf('-----BEGIN', 1) < 0

/**
 * Reads the block of one public key that certifies an identity of its own. `undefined` for anything else, and for what is too
 * large to be looked at.
 */
export async function parseGpgKey(text: string): Promise<GpgPublicKey | undefined> {
  const key = await readKeyBlock(text)
  if (!key || key.toPacketList().length > mostPackets || (key.getAlgorithmInfo().bits ?? 0) > largestRsaBits)
    return undefined
  const deadline = performance.now() + longestMs
  const identities: Identity[] = []
  for (const user of key.users) {
    if (performance.now() > deadline) return undefined
    if (user.userID && (await holds(user.verify())))
      identities.push({ name: user.userID.name ?? '', email: user.userID.email ?? '' })
  }
  const subkeys: GpgPublicKey['subkeys'][number][] = []
  for (const subkey of key.subkeys) {
    if (performance.now() > deadline) return undefined
    if ((subkey.getAlgorithmInfo().bits ?? 0) <= largestRsaBits && (await holds(subkey.verify(anyTime))))
      subkeys.push(namesOf(subkey))
  }
  return identities.length === 0 ? undefined : { ...namesOf(key), identities, subkeys }
}

/** The block as a key to verify with. */
export async function readKeyBlock(text: string): Promise<Key | undefined> {
  if (text.length > maximumKeyLength || !isKeyBlock(text)) return undefined
  // Loaded when the first key is read: it is large, and most processes read none.
  const { readKeys } = await import('openpgp')
  const keys = await readKeys({ armoredKeys: text }).catch(() => [])
  const [key] = keys
  return key && keys.length === 1 && !key.isPrivate() ? key : undefined
}

/** Expired or not: the library's `null`, which its type leaves out. */
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
