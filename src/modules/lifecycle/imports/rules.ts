import type { GuardRules } from '../../instance/index.ts'

/** What repositories are imported from. */
export const importRules: GuardRules = { purpose: 'import', schemes: ['http', 'https', 'git'], lowPorts: [80, 443] }
