import { Type } from 'typebox'
import { keySizes, notLessThan, notMoreThan, present, shortEntries, webAddress } from '../rules.ts'
import { choice, count, countOrNone, flag, text, words } from '../schema.ts'

/** What SSH keys of a type must have: 0 nothing, -1 forbids them, else the fewest bits. */
const keyRestriction = (type: string, sizes: readonly number[]) =>
  Type.Integer({
    default: 0,
    description: `Fewest bits of ${type} keys (${sizes.join(', ')}); 0 for any, -1 for none`,
    rules: [keySizes(sizes)],
  })

const storageTimeout = (seconds: number, description: string, name: string, rules = {}) =>
  count(seconds, description, {
    alias: `gitaly_timeout_${name}`,
    ...rules,
  })

/** How git is spoken, where repositories lie, and how much may be sent. */
export const git = {
  enabled_git_access_protocol: choice(
    ['ssh', 'http', null],
    null,
    'The only protocol by which git reaches repositories; null (or `nil`) for both',
  ),
  rsa_key_restriction: keyRestriction('RSA', [1024, 2048, 3072, 4096]),
  dsa_key_restriction: keyRestriction('DSA', [1024, 2048, 3072]),
  ecdsa_key_restriction: keyRestriction('ECDSA', [256, 384, 521]),
  ed25519_key_restriction: keyRestriction('ED25519', [256]),
  authorized_keys_enabled: flag(true, 'Keys are written to the file of the SSH server', {
    without:
      'such a file: SSH is answered here, and every key is looked up in the database, as if this were off; both let the same keys in',
  }),
  custom_http_clone_url_root: text('What addresses of repositories over HTTP begin with, instead of our own address', {
    longest: 511,
    rules: [webAddress],
  }),
  receive_max_input_size: countOrNone('Largest push in MB; null or 0 is no limit'),
  repository_size_limit: count(
    0,
    'Size in MB from which a repository with its large files takes no more pushes; 0 is no limit',
    {
      tier: 'premium',
    },
  ),
  repository_storages: words('Storages of which new projects get one at random', {
    value: ['default'],
    rules: [present, shortEntries],
  }),
  hashed_storage_enabled: flag(true, 'Folders of new repositories do not follow the names of their projects', {
    without: 'another way: they follow the ids of projects',
  }),
  repository_checks_enabled: flag(true, 'Each repository is read whole once a month, to see whether it is damaged'),
  diff_max_patch_bytes: count(102_400, 'Bytes of the difference of one file that are shown', {
    minimum: 102_400,
    maximum: 512_000,
  }),
  repo_storage_timeout_default: storageTimeout(
    55,
    'Seconds that a process of git may take for a request, transfers and background jobs apart; 0 for ever',
    'default',
  ),
  repo_storage_timeout_medium: storageTimeout(
    30,
    'Seconds that git may take to say who wrote the lines of a file; 0 for ever',
    'medium',
    {
      rules: [notLessThan('repo_storage_timeout_fast'), notMoreThan('repo_storage_timeout_default')],
    },
  ),
  repo_storage_timeout_fast: storageTimeout(
    10,
    'Seconds that a process of git that lives on may take for an object; 0 for ever',
    'fast',
    {
      rules: [notMoreThan('repo_storage_timeout_default')],
    },
  ),
  lfs_enabled: flag(true, 'Large files may be stored (git LFS)'),
  max_lfs_object_size: count(0, 'Largest large file in MB; 0 is no limit'),
  push_event_hooks_limit: count(3, 'A push of more branches or tags than this is not told to hooks', {
    without: 'hooks',
    guards: 'missing',
  }),
}
