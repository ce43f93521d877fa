import type { Policy } from './policy.ts'

/** Abilities on an account. Facts: modules/accounts/users/subject.ts. */
export const userPolicy = {
  /** Restricted profiles are hidden from anonymous callers only. */
  read_user: { from: 'owner', open: 'anyone', or: ['signed_in'] },
  follow_user: { from: 'owner', open: 'signed_in', or: ['signed_in'] },
  admin_user: { from: 'owner' },
  admin_custom_attribute: { from: 'administrator' },
} as const satisfies Policy<string>
