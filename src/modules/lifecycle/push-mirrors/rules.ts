import type { GuardRules } from '../../instance/index.ts'

/** Allowed schemes and ports of the URLs of push mirrors. */
export const targetRules: GuardRules = { purpose: 'import', schemes: ['http', 'https'], lowPorts: [80, 443] }
