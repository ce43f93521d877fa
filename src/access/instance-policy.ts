import type { Facts, Policy } from './policy.ts'

/** Abilities that are about the whole service. */
export const instancePolicy = {
  /** Anonymous access is allowed: results are filtered by what the caller may see. */
  browse: { from: 'owner', open: 'anyone', evenLimited: true },
  /** People are neither projects nor groups. */
  browse_people: { from: 'owner', open: 'anyone' },
  /** To ask who one is, and to look at, end or replace the token that was shown. */
  know_oneself: { from: 'owner', open: 'signed_in', evenLimited: true },
  read_version: { from: 'owner', open: 'signed_in', evenLimited: true },
  use: { from: 'owner', open: 'signed_in' },
  administer: { from: 'owner' },
  admin_variable: { from: 'administrator' },
} as const satisfies Policy<string>

/** The service as a subject: open to all, owned by administrators. */
export const instanceFacts: Facts = { visibility: 20, level: 0, features: {}, flags: {} }
