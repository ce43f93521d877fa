import { shortEntries } from '../rules.ts'
import { choices, count, flag, words } from '../schema.ts'

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

/** Requests that leave the house, and what comes in from elsewhere. */
export const outbound = {
  allow_local_requests_from_web_hooks_and_services: flag(
    false,
    'Addresses of imports, hooks and services may lead to the local network',
  ),
  allow_local_requests_from_system_hooks: flag(true, 'Addresses of system hooks may lead to the local network', {
    without: 'system hooks',
    guards: 'missing',
  }),
  outbound_local_requests_whitelist: words(
    'Host names, addresses and ranges (10.1.0.0/16) in the local network that requests may go to all the same',
    { rules: [shortEntries] },
  ),
  dns_rebinding_protection_enabled: flag(
    true,
    'A request goes to the address that was checked, whatever its name stands for by then',
  ),
  import_sources: choices(
    sources,
    'Where projects may be imported from; of these `git` (an address) is offered',
    sources,
  ),
  max_import_size: count(10_240, 'Largest repository that is imported, in MB; 0 is no limit'),
  mirror_available: flag(true, 'Maintainers may make mirrors', { without: 'mirrors', guards: 'missing' }),
  mirror_capacity_threshold: count(50, 'Mirrors that must be free before more begin', {
    exclusiveMinimum: 0,
    tier: 'premium',
    without: 'mirrors',
    guards: 'missing',
  }),
  mirror_max_capacity: count(100, 'Mirrors that work at the same time', {
    exclusiveMinimum: 0,
    tier: 'premium',
    without: 'mirrors',
    guards: 'missing',
  }),
  mirror_max_delay: count(300, 'Minutes between two updates of a mirror', {
    exclusiveMinimum: 0,
    tier: 'premium',
    without: 'mirrors',
  }),
  project_export_enabled: flag(true, 'Projects may be exported', { without: 'exports', guards: 'missing' }),
}
