/** What a hook of a project can receive, by the name of its flag. */
export const projectTriggers = [
  'push_events',
  'tag_push_events',
  'issues_events',
  'confidential_issues_events',
  'note_events',
  'confidential_note_events',
  'merge_requests_events',
  'job_events',
  'pipeline_events',
  'wiki_page_events',
  'releases_events',
  'repository_update_events',
] as const

/** What a hook of a group can receive besides. */
export const groupOnlyTriggers = ['member_events', 'subgroup_events'] as const

/** What a system hook receives if its flag is true. */
export const systemTriggers = [
  'push_events',
  'tag_push_events',
  'merge_requests_events',
  'repository_update_events',
] as const

/** What every system hook receives; there is no flag for it. */
export const systemEvents = 'system_events'

export type Flag = (typeof projectTriggers)[number] | (typeof groupOnlyTriggers)[number]

export type Trigger = Flag | typeof systemEvents

export type HookKind = 'project' | 'group' | 'system'

/** The flags of a kind of hook. */
export const flagsOf: Readonly<Record<HookKind, readonly Flag[]>> = {
  project: projectTriggers,
  group: [...projectTriggers, ...groupOnlyTriggers],
  system: systemTriggers,
}

/** The flags that are true if nothing else is asked for. */
export const defaultFlags: Readonly<Record<HookKind, readonly Flag[]>> = {
  project: ['push_events'],
  group: ['push_events'],
  system: ['repository_update_events'],
}

/** The value of the event header for each trigger; system hooks have one for all. */
export const eventNames: Readonly<Record<Flag, string>> = {
  push_events: 'Push Hook',
  tag_push_events: 'Tag Push Hook',
  issues_events: 'Issue Hook',
  confidential_issues_events: 'Confidential Issue Hook',
  note_events: 'Note Hook',
  confidential_note_events: 'Confidential Note Hook',
  merge_requests_events: 'Merge Request Hook',
  job_events: 'Job Hook',
  pipeline_events: 'Pipeline Hook',
  wiki_page_events: 'Wiki Page Hook',
  releases_events: 'Release Hook',
  repository_update_events: 'Repository Update Hook',
  member_events: 'Member Hook',
  subgroup_events: 'Subgroup Hook',
}

export const systemEventName = 'System Hook'
