/** Notification levels, by their number in the database. `global`: the user's global level applies. */
export const notificationLevels = ['disabled', 'participating', 'watch', 'global', 'mention', 'custom'] as const
export type NotificationLevel = (typeof notificationLevels)[number]

export const levelNumber = (level: NotificationLevel): number => notificationLevels.indexOf(level)
export const levelName = (stored: number): NotificationLevel => notificationLevels[stored] ?? 'global'

/** Events of the level `custom`, with their defaults. */
export const notificationEvents = {
  new_release: false,
  new_note: false,
  new_issue: false,
  reopen_issue: false,
  close_issue: false,
  reassign_issue: false,
  issue_due: false,
  new_merge_request: false,
  push_to_merge_request: false,
  reopen_merge_request: false,
  close_merge_request: false,
  reassign_merge_request: false,
  change_reviewer_merge_request: false,
  merge_merge_request: false,
  merge_when_pipeline_succeeds: false,
  failed_pipeline: true,
  fixed_pipeline: true,
  success_pipeline: false,
  moved_project: true,
  new_epic: false,
} as const
export type NotificationEvent = keyof typeof notificationEvents

/** Events that the level `watch` does not have, because they are so frequent: watchers are mailed only where they take part. */
export const unwatchedEvents: readonly NotificationEvent[] = ['issue_due', 'push_to_merge_request', 'success_pipeline']

export const eventNames = Object.keys(notificationEvents) as NotificationEvent[]

/** What each event is about, for the documentation. */
const subjects: Readonly<Record<NotificationEvent, string>> = {
  new_release: 'a new release',
  new_note: 'a new comment',
  new_issue: 'a new issue',
  reopen_issue: 'a reopened issue',
  close_issue: 'a closed issue',
  reassign_issue: 'a new assignee of an issue',
  issue_due: 'an issue that is due tomorrow',
  new_merge_request: 'a new merge request',
  push_to_merge_request: 'new commits in a merge request',
  reopen_merge_request: 'a reopened merge request',
  close_merge_request: 'a closed merge request',
  reassign_merge_request: 'a new assignee of a merge request',
  change_reviewer_merge_request: 'a new reviewer of a merge request',
  merge_merge_request: 'a merged merge request',
  merge_when_pipeline_succeeds: 'a merge request that will merge when its pipeline succeeds',
  failed_pipeline: 'a failed pipeline',
  fixed_pipeline: 'a pipeline that succeeds after a failed one',
  success_pipeline: 'a successful pipeline',
  moved_project: 'a project that moved',
  new_epic: 'a new epic',
}

export const aboutEvent = (event: NotificationEvent): string => `Notify about ${subjects[event]}, at level \`custom\``
