import { atLeastADay, duration } from '../rules.ts'
import { choice, count, decimal, flag, text } from '../schema.ts'

/** How large and how old things may be, and how they are counted. */
export const sizes = {
  max_attachment_size: count(10, 'Largest upload in MB', { exclusiveMinimum: 0 }),
  max_artifacts_size: count(100, 'Largest artifacts of a job in MB', {
    exclusiveMinimum: 0,
    without: 'artifacts of jobs',
    guards: 'missing',
  }),
  max_pages_size: count(100, 'Largest site of a project in MB; 0 is no limit', {
    without: 'sites of projects',
    guards: 'missing',
  }),
  snippet_size_limit: count(52_428_800, 'Bytes of the largest snippet', {
    exclusiveMinimum: 0,
    without: 'snippets',
    guards: 'missing',
  }),
  event_retention_days: count(30, 'Days after which events of the log are deleted', { minimum: 1, maximum: 3650 }),
  audit_event_retention_days: count(0, 'Days after which audit events are deleted; 0 for never', { maximum: 36_500 }),
  push_event_activities_limit: count(3, 'A push of more branches or tags than this is one event'),
  default_artifacts_expire_in: text('How long artifacts of jobs are kept', {
    value: '30 days',
    rules: [duration],
    without: 'artifacts of jobs',
    guards: 'missing',
  }),
  archive_builds_in_human_readable: text(
    'Age after which jobs are archived and cannot be run again, like `15 days`; null for never',
    { rules: [atLeastADay], without: 'jobs that run here', guards: 'missing' },
  ),
  container_registry_token_expire_delay: count(5, 'Minutes that a token of the container registry lasts', {
    exclusiveMinimum: 0,
    without: 'a container registry',
    guards: 'missing',
  }),
  local_markdown_version: count(0, 'Raised when Markdown that was rendered before must be rendered anew', {
    maximum: 65_535,
    without: 'rendered Markdown that is kept: what is shown is rendered when it is asked for, and so is never old',
  }),
  polling_interval_multiplier: decimal(1, 'By what intervals of asking again are multiplied; 0 for never', {
    minimum: 0,
    without: 'pages that ask again',
  }),
  terminal_max_session_time: count(0, 'Seconds that a terminal stays open; 0 is no limit', {
    without: 'terminals',
    guards: 'missing',
  }),
  time_tracking_limit_to_hours: flag(false, 'Times are shown in hours and minutes, not in days'),
  first_day_of_week: choice([0, 1, 6] as number[], 0, 'Day on which weeks begin: 0 Sunday, 1 Monday, 6 Saturday', {
    without: 'calendars',
  }),
}
