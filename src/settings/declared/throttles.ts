import { shortEntries } from './rules.ts'
import { count, flag, words } from './schema.ts'

const requests = (value: number, of: string) => count(value, `Maximum requests ${of}, in each period`)
const period = (value: number, of: string) => count(value, `Period ${of} in seconds`)

/** Rate limits. */
export const throttles = {
  throttle_unauthenticated_enabled: flag(false, 'Limit unauthenticated requests per IP address', {
    needs: ['throttle_unauthenticated_requests_per_period', 'throttle_unauthenticated_period_in_seconds'],
  }),
  throttle_unauthenticated_requests_per_period: requests(3600, 'unauthenticated, per IP address'),
  throttle_unauthenticated_period_in_seconds: period(3600, 'of unauthenticated requests'),
  throttle_authenticated_api_enabled: flag(false, 'Limit API requests per user', {
    needs: ['throttle_authenticated_api_requests_per_period', 'throttle_authenticated_api_period_in_seconds'],
  }),
  throttle_authenticated_api_requests_per_period: requests(7200, 'to the API, per user'),
  throttle_authenticated_api_period_in_seconds: period(3600, 'of API requests'),
  throttle_authenticated_web_enabled: flag(false, 'Limit Git and LFS requests per user', {
    needs: ['throttle_authenticated_web_requests_per_period', 'throttle_authenticated_web_period_in_seconds'],
  }),
  throttle_authenticated_web_requests_per_period: requests(7200, 'to Git and LFS, per user'),
  throttle_authenticated_web_period_in_seconds: period(3600, 'of Git and LFS requests'),
  throttle_protected_paths_enabled: flag(false, 'Limit POST requests to `protected_paths` per IP address'),
  throttle_protected_paths_requests_per_period: requests(10, 'to protected paths, per IP address'),
  throttle_protected_paths_period_in_seconds: period(60, 'of requests to protected paths'),
  protected_paths: words('Path prefixes with limited POST requests', {
    value: [
      '/users/password',
      '/users/sign_in',
      '/api/v4/session',
      '/oauth/token',
      '/users',
      '/users/confirmation',
      '/-/users/password',
      '/-/users/confirmation',
    ],
    rules: [shortEntries],
  }),
  search_rate_limit: count(300, 'Maximum searches of a user per minute; 0 for no limit'),
  raw_blob_request_limit: count(300, 'Maximum requests per minute for one raw file; 0 for no limit', {
    without: 'file pages; the API does not limit file requests',
    guards: 'missing',
  }),
  unique_ips_limit_enabled: flag(false, 'Limit the number of IP addresses per user', {
    needs: ['unique_ips_limit_per_user', 'unique_ips_limit_time_window'],
  }),
  unique_ips_limit_per_user: count(10, 'Maximum number of IP addresses per user', { minimum: 1 }),
  unique_ips_limit_time_window: count(3600, 'Seconds after which an IP address no longer counts'),
}
