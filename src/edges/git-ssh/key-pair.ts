import ssh2 from 'ssh2'

/**
 * Generates a key pair in OpenSSH's formats, ed25519 or ECDSA with 256 bits. The library drops leading zeros of a public ed25519 key, so one
 * of 256 pairs is unreadable, even for itself; such a pair is discarded.
 */
export function newKeyPair(type: 'ed25519' | 'ecdsa' = 'ed25519'): { private: string; public: string } {
  for (;;) {
    const pair =
      type === 'ecdsa' ? ssh2.utils.generateKeyPairSync(type, { bits: 256 }) : ssh2.utils.generateKeyPairSync(type)
    if (!(ssh2.utils.parseKey(pair.private) instanceof Error)) return pair
  }
}
