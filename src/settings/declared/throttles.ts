import { shortEntries } from '../rules.ts'
import { count, flag, words } from '../schema.ts'

const requests = (value: number, of: string) => count(value, `Requests ${of} in each period`)
const period = (value: number, of: string) => count(value, `Seconds of a period ${of}`)

/** How often somebody may ask. */
export const throttles = {
  throttle_unauthenticated_enabled: flag(false, 'Limit requests of each address without credentials', {
    needs: ['throttle_unauthenticated_requests_per_period', 'throttle_unauthenticated_period_in_seconds'],
  }),
  throttle_unauthenticated_requests_per_period: requests(3600, 'of an address'),
  throttle_unauthenticated_period_in_seconds: period(3600, 'of addresses'),
  throttle_authenticated_api_enabled: flag(false, 'Limit API requests of each user', {
    needs: ['throttle_authenticated_api_requests_per_period', 'throttle_authenticated_api_period_in_seconds'],
  }),
  throttle_authenticated_api_requests_per_period: requests(7200, 'of a user to the API'),
  throttle_authenticated_api_period_in_seconds: period(3600, 'of users of the API'),
  throttle_authenticated_web_enabled: flag(false, 'Limit requests of each user to git and large files', {
    needs: ['throttle_authenticated_web_requests_per_period', 'throttle_authenticated_web_period_in_seconds'],
  }),
  throttle_authenticated_web_requests_per_period: requests(7200, 'of a user to git and large files'),
  throttle_authenticated_web_period_in_seconds: period(3600, 'of users of git and large files'),
  throttle_protected_paths_enabled: flag(false, 'Limit POST requests of each address to `protected_paths`'),
  throttle_protected_paths_requests_per_period: requests(10, 'of an address to protected paths'),
  throttle_protected_paths_period_in_seconds: period(60, 'of protected paths'),
  protected_paths: words('Beginnings of paths that are limited', {
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
  search_rate_limit: count(300, 'Searches a user may make in a minute; 0 is no limit'),
  raw_blob_request_limit: count(300, 'Requests in a minute for one raw file of a page; 0 is no limit', {
    without: 'pages of files: the API gives files as often as they are asked for',
    guards: 'missing',
  }),
  unique_ips_limit_enabled: flag(false, 'Limit the addresses that each user comes from', {
    needs: ['unique_ips_limit_per_user', 'unique_ips_limit_time_window'],
  }),
  unique_ips_limit_per_user: count(10, 'Addresses of a user', { minimum: 1 }),
  unique_ips_limit_time_window: count(3600, 'Seconds after which an address is forgotten'),
}
