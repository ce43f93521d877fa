import { count, flag } from '../schema.ts'

/** How often somebody may ask. */
export const throttles = {
  throttle_unauthenticated_enabled: flag(false, 'Limit requests of each address without credentials'),
  throttle_unauthenticated_requests_per_period: count(3600, 'Requests'),
  throttle_unauthenticated_period_in_seconds: count(3600, 'Seconds'),
  throttle_authenticated_api_enabled: flag(false, 'Limit API requests of each user'),
  throttle_authenticated_api_requests_per_period: count(7200, 'Requests'),
  throttle_authenticated_api_period_in_seconds: count(3600, 'Seconds'),
}
