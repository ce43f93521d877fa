import { Type } from 'typebox'
import { keySizes, notLessThan, notMoreThan, present, shortEntries, webAddress } from './rules.ts'
import { choice, count, countOrNone, flag, text, words } from './schema.ts'

/** Restriction of SSH keys of one type: 0 allows all, -1 forbids them, otherwise the minimum number of bits. */
const keyRestriction = (type: string, sizes: readonly number[]) =>
  Type.Integer({
    default: 0,
    description: `Minimum bits of ${type} keys (${sizes.join(', ')}); 0 allows all, -1 none`,
    rules: [keySizes(sizes)],
  })

const storageTimeout = (seconds: number, description: string, name: string, rules = {}) =>
  count(seconds, description, {
    alias: `gitaly_timeout_${name}`,
    ...rules,
  })

/** Git protocols, repository storage, size limits and timeouts. */
export const git = {
  enabled_git_access_protocol: choice(
    ['ssh', 'http', null],
    null,
    'Only protocol allowed for Git; null (or `nil`) allows both',
  ),
  rsa_key_restriction: keyRestriction('RSA', [1024, 2048, 3072, 4096]),
  dsa_key_restriction: keyRestriction('DSA', [1024, 2048, 3072]),
  ecdsa_key_restriction: keyRestriction('ECDSA', [256, 384, 521]),
  ed25519_key_restriction: keyRestriction('ED25519', [256]),
  authorized_keys_enabled: flag(true, 'Write SSH keys to an authorized_keys file', {
    without: 'an authorized_keys file; the built-in SSH server looks up every key in the database',
  }),
  custom_http_clone_url_root: text('Root of HTTP clone URLs instead of the URL of the instance', {
    longest: 511,
    rules: [webAddress],
  }),
  receive_max_input_size: countOrNone('Maximum push size in MB; null or 0 for no limit'),
  repository_size_limit: count(
    0,
    'Maximum size of a repository with its LFS objects in MB, beyond which pushes are rejected; 0 for no limit',
    {
      tier: 'premium',
    },
  ),
  repository_storages: words('Repository storages, one of which is chosen at random for a new project', {
    value: ['default'],
    rules: [present, shortEntries],
  }),
  hashed_storage_enabled: flag(true, 'Use hashed paths for new repositories', {
    without: 'other paths; they are derived from project IDs',
  }),
  repository_checks_enabled: flag(true, 'Check each repository for corruption once a month'),
  diff_max_patch_bytes: count(102_400, 'Maximum size of the diff of one file in bytes', {
    minimum: 102_400,
    maximum: 512_000,
  }),
  repo_storage_timeout_default: storageTimeout(
    55,
    'Timeout of Git processes in requests in seconds, except transfers and background jobs; 0 for none',
    'default',
  ),
  repo_storage_timeout_medium: storageTimeout(30, 'Timeout of Git blame in seconds; 0 for none', 'medium', {
    rules: [notLessThan('repo_storage_timeout_fast'), notMoreThan('repo_storage_timeout_default')],
  }),
  repo_storage_timeout_fast: storageTimeout(
    10,
    'Timeout of reading one object from a long-running Git process in seconds; 0 for none',
    'fast',
    {
      rules: [notMoreThan('repo_storage_timeout_default')],
    },
  ),
  lfs_enabled: flag(true, 'Enable Git LFS'),
  max_lfs_object_size: count(0, 'Maximum size of an LFS object in MB; 0 for no limit'),
  push_event_hooks_limit: count(3, 'Maximum number of changed branches or tags in a push that triggers hooks'),
}
