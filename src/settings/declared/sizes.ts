import { atLeastADay, duration } from './rules.ts'
import { choice, count, decimal, flag, text } from './schema.ts'

/** Maximum sizes and lifetimes, and how times are shown. */
export const sizes = {
  max_attachment_size: count(10, 'Maximum upload size in MB', { exclusiveMinimum: 0 }),
  max_artifacts_size: count(100, 'Maximum size of job artifacts in MB', {
    exclusiveMinimum: 0,
    without: 'job artifacts',
    guards: 'missing',
  }),
  max_pages_size: count(100, 'Maximum size of a project site in MB; 0 for no limit', {
    without: 'project sites',
    guards: 'missing',
  }),
  snippet_size_limit: count(52_428_800, 'Maximum size of a file of a snippet in bytes', { exclusiveMinimum: 0 }),
  event_retention_days: count(30, 'Days after which events of the log are deleted', { minimum: 1, maximum: 3650 }),
  audit_event_retention_days: count(0, 'Days after which audit events are deleted; 0 for never', { maximum: 36_500 }),
  push_event_activities_limit: count(
    3,
    'Maximum number of changed branches or tags in a push that are listed as single events',
  ),
  default_artifacts_expire_in: text('Default expiry of job artifacts', {
    value: '30 days',
    rules: [duration],
    without: 'job artifacts',
    guards: 'missing',
  }),
  archive_builds_in_human_readable: text(
    'Age after which jobs are archived and cannot be retried, such as `15 days`; null for never',
    { rules: [atLeastADay], without: 'its own CI jobs', guards: 'missing' },
  ),
  container_registry_token_expire_delay: count(5, 'Lifetime of container registry tokens in minutes', {
    exclusiveMinimum: 0,
  }),
  container_registry_max_layer_size: count(
    10_240,
    'Maximum size of a layer of a container image in MB; 0 for no limit',
  ),
  container_registry_retention_days: count(
    7,
    'Days for which deleted container images and tags can be restored, and for which images without a tag are stored',
    { maximum: 3650 },
  ),
  local_markdown_version: count(0, 'Increment to invalidate cached rendered Markdown', { maximum: 65_535 }),
  polling_interval_multiplier: decimal(1, 'Multiplier of polling intervals; 0 disables polling', {
    minimum: 0,
    without: 'polling pages',
  }),
  terminal_max_session_time: count(0, 'Maximum duration of a terminal session in seconds; 0 for no limit', {
    without: 'terminals',
    guards: 'missing',
  }),
  time_tracking_limit_to_hours: flag(false, 'Show tracked time in hours and minutes instead of days'),
  first_day_of_week: choice([0, 1, 6] as number[], 0, 'First day of the week: 0 Sunday, 1 Monday, 6 Saturday', {
    without: 'calendars',
  }),
}
