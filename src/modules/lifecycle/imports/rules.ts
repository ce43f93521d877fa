import type { GuardRules } from '../../instance/index.ts'

/** Allowed schemes and ports of import URLs. */
export const importRules: GuardRules = { purpose: 'import', schemes: ['http', 'https', 'git'], lowPorts: [80, 443] }
