import type { EventName } from '../../../events/catalogue.ts'
import { systemEvents, type Trigger } from '../hooks/triggers.ts'

/** The kinds of rows that facts are read from when an event is recorded: what decides which hooks receive it, and the whole payload of some. */
export type FactsOf = 'issue' | 'note' | 'pipeline' | 'project' | 'group' | 'user'

/** Which hooks an event may concern, and what must be read before it changes or disappears. */
export type Rule = { readonly triggers: readonly Trigger[]; readonly facts?: FactsOf }

const notes = ['note_events', 'confidential_note_events'] as const
// Hooks for notes, too: whether an issue that is gone was confidential decides what they receive of the notes on it.
const issues: Rule = { triggers: ['issues_events', 'confidential_issues_events', ...notes], facts: 'issue' }
const mergeRequests: Rule = { triggers: ['merge_requests_events'] }
const wikiPages: Rule = { triggers: ['wiki_page_events'] }
const releases: Rule = { triggers: ['releases_events'] }
// The account may be deleted.
const members: Rule = { triggers: ['member_events', systemEvents], facts: 'user' }
const projects: Rule = { triggers: [systemEvents], facts: 'project' }
const groups: Rule = { triggers: ['subgroup_events', systemEvents], facts: 'group' }
const users: Rule = { triggers: [systemEvents], facts: 'user' }
const keys: Rule = { triggers: [systemEvents], facts: 'user' }

/** The events that hooks receive. Source: supplement to the API documents, "Selection" and "Payloads". */
export const hookRules = {
  pushed: { triggers: ['push_events', 'tag_push_events', 'repository_update_events'] },
  issue_opened: issues,
  issue_updated: issues,
  issue_closed: issues,
  issue_reopened: issues,
  merge_request_opened: mergeRequests,
  merge_request_updated: mergeRequests,
  merge_request_closed: mergeRequests,
  merge_request_reopened: mergeRequests,
  merge_request_merged: mergeRequests,
  merge_request_approved: mergeRequests,
  merge_request_unapproved: mergeRequests,
  note_created: { triggers: notes, facts: 'note' },
  pipeline_changed: { triggers: ['pipeline_events'], facts: 'pipeline' },
  commit_status_changed: { triggers: ['job_events'] },
  wiki_page_created: wikiPages,
  wiki_page_updated: wikiPages,
  wiki_page_deleted: wikiPages,
  release_created: releases,
  release_updated: releases,
  release_deleted: releases,
  member_added: members,
  member_updated: members,
  member_removed: members,
  project_created: projects,
  project_deleted: projects,
  project_renamed: projects,
  project_transferred: projects,
  project_updated: projects,
  group_created: groups,
  group_deleted: groups,
  group_updated: { triggers: [systemEvents], facts: 'group' },
  user_created: users,
  user_deleted: users,
  user_updated: users,
  sign_in_failed: users,
  ssh_key_added: keys,
  ssh_key_removed: keys,
} as const satisfies { readonly [K in EventName]?: Rule }

export type HookedEvent = keyof typeof hookRules

export const hookedEvents = Object.keys(hookRules) as readonly HookedEvent[]

/** The rule of an event. */
export const ruleOf = (kind: HookedEvent): Rule => hookRules[kind]
