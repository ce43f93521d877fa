import type { GuardRules } from '../outbound/guard.ts'

/** What repositories are imported from. */
export const importRules: GuardRules = { purpose: 'import', schemes: ['http', 'https', 'git'], lowPorts: [80, 443] }
