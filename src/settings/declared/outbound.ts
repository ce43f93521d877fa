import { count, flag, words } from '../schema.ts'

/** Requests that leave the house, and what comes in from elsewhere. */
export const outbound = {
  allow_local_requests_from_web_hooks_and_services: flag(
    false,
    'Addresses of imports, hooks and services may lead to the local network',
  ),
  outbound_local_requests_whitelist: words(
    'Host names, addresses and ranges (10.1.0.0/16) in the local network that requests may go to all the same',
  ),
  dns_rebinding_protection_enabled: flag(
    true,
    'A request goes to the address that was checked, whatever its name stands for by then',
  ),
  max_import_size: count(10_240, 'Largest repository that is imported, in MB; 0 is no limit'),
}
