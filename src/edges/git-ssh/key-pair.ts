import ssh2 from 'ssh2'

/**
 * Generates an ed25519 key pair in OpenSSH's formats. The library drops leading zeros of a public key, so one of 256 pairs is
 * unreadable, even for itself; such a pair is discarded.
 */
export function newKeyPair(): { private: string; public: string } {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519')
    if (!(ssh2.utils.parseKey(pair.private) instanceof Error)) return pair
  }
}
