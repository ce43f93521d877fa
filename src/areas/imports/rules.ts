import type { Ctx } from '../../api/ctx.ts'
import type { GuardRules } from '../outbound/guard.ts'

/** What repositories are imported from. */
export const importRules = ({ settings }: Pick<Ctx, 'settings'>): GuardRules => ({
  schemes: ['http', 'https', 'git'],
  lowPorts: [80, 443],
  allowLocal: settings.allow_local_requests_from_web_hooks_and_services,
})
