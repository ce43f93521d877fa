import ssh2 from 'ssh2'

/**
 * A new ed25519 pair of keys, both in OpenSSH's formats.
 *
 * The library drops zeros at the beginning of a public key, so that one of 256 pairs is too short for any reader, itself
 * included. Such a pair is not taken.
 */
export function newKeyPair(): { private: string; public: string } {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519')
    if (!(ssh2.utils.parseKey(pair.private) instanceof Error)) return pair
  }
}
