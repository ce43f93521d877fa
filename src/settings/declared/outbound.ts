import { shortEntries } from './rules.ts'
import { choices, count, flag, words } from './schema.ts'

const sources = [
  'github',
  'bitbucket',
  'bitbucket_server',
  'gitlab',
  'google_code',
  'fogbugz',
  'git',
  'gitlab_project',
  'gitea',
  'manifest',
  'phabricator',
] as const

/** Outbound requests, imports and mirrors. */
export const outbound = {
  allow_local_requests_from_web_hooks_and_services: flag(
    false,
    'Allow URLs of imports, hooks and services in the local network',
  ),
  allow_local_requests_from_system_hooks: flag(true, 'Allow URLs of system hooks in the local network'),
  outbound_local_requests_whitelist: words(
    'Host names, IP addresses and ranges (10.1.0.0/16) in the local network to which requests are always allowed',
    { rules: [shortEntries] },
  ),
  dns_rebinding_protection_enabled: flag(
    true,
    'Protect against DNS rebinding: connect to the checked IP address even if the name resolves differently later',
  ),
  import_sources: choices(
    sources,
    'Enabled import sources; supported are `git` (a URL), `gitlab_project` (archives of projects and groups), `github` and `gitea`',
    sources,
  ),
  max_import_size: count(10_240, 'Maximum size of an imported repository in MB; 0 for no limit'),
  mirror_available: flag(true, 'Allow maintainers to set up mirrors; false: only administrators'),
  mirror_capacity_threshold: count(50, 'Minimum free capacity before more updates of pull mirrors are queued', {
    exclusiveMinimum: 0,
    tier: 'premium',
  }),
  mirror_max_capacity: count(100, 'Maximum number of updates of pull mirrors that wait or run at once', {
    exclusiveMinimum: 0,
    tier: 'premium',
  }),
  mirror_max_delay: count(300, 'Maximum minutes between two updates of a pull mirror, also after failures', {
    exclusiveMinimum: 0,
    tier: 'premium',
  }),
  project_export_enabled: flag(true, 'Allow project exports'),
}
