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

export const eventNames = Object.keys(notificationEvents) as NotificationEvent[]
