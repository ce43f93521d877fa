import type { Policy } from './policy.ts'

/** Abilities on an account. Facts: areas/users/subject.ts; `self` is the account's own caller. */
export const userPolicy = {
  read_user: { from: 'owner', open: 'anyone' },
  admin_user: { from: 'owner' },
} as const satisfies Policy<string>

export type UserAbility = keyof typeof userPolicy
