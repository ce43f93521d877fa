import type { Facts, Policy } from './policy.ts'

/** Abilities on the whole service. */
export const instancePolicy = {
  /** Anonymous access is allowed: results are filtered by what the caller may see. */
  browse: { from: 'owner', open: 'anyone', evenLimited: true },
  /** List and search users. Tokens that are limited to projects or groups do not have it. */
  browse_people: { from: 'owner', open: 'anyone' },
  /** Read the current user, and read, rotate or revoke the token of the request. */
  know_oneself: { from: 'owner', open: 'signed_in', evenLimited: true },
  read_version: { from: 'owner', open: 'signed_in', evenLimited: true },
  use: { from: 'owner', open: 'signed_in' },
  administer: { from: 'owner' },
  admin_variable: { from: 'administrator' },
  /** Read and change system hooks, and read what was sent to them. */
  admin_hook: { from: 'administrator' },
} as const satisfies Policy<string>

/** The service as a subject: open to all, owned by administrators. */
export const instanceFacts: Facts = { visibility: 20, level: 0, features: {}, flags: {} }
