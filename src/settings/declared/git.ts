import { Type } from 'typebox'
import { choice, count, flag } from '../schema.ts'

/** What SSH keys of a type must have: 0 nothing, -1 forbids them, else the fewest bits. */
const keyRestriction = (type: string, sizes: readonly number[]) =>
  Type.Unsafe<number>({
    type: 'integer',
    enum: [0, -1, ...sizes],
    default: 0,
    description: `Fewest bits of ${type} keys; 0 for any, -1 for none`,
  })

/** How git is spoken, and how much may be sent. */
export const git = {
  enabled_git_access_protocol: choice(
    ['ssh', 'http', null],
    null,
    'The only protocol by which git reaches repositories; null for both',
  ),
  rsa_key_restriction: keyRestriction('RSA', [1024, 2048, 3072, 4096]),
  dsa_key_restriction: keyRestriction('DSA', [1024, 2048, 3072]),
  ecdsa_key_restriction: keyRestriction('ECDSA', [256, 384, 521]),
  ed25519_key_restriction: keyRestriction('ED25519', [256]),
  receive_max_input_size: count(0, 'Largest push in MB; 0 is no limit'),
  lfs_enabled: flag(true, 'Large files may be stored (git LFS)'),
  max_lfs_object_size: count(0, 'Largest large file in MB; 0 is no limit'),
}
