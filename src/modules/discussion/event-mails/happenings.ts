import { capitalized } from '../../../kernel/capitalized.ts'
import type { NotificationEvent } from '../../groups/index.ts'
import type { PlannedType } from '../noteables/kinds.ts'

/** What can happen to a noteable after it was opened, as far as it is mailed. */
type HappeningText = {
  /** As a sentence with the author, and without one. `noun` has an article. */
  readonly by: (noun: string) => string
  readonly alone: (noun: string) => string
  /** The notification setting, for kinds that have one. */
  readonly settings?: { readonly [T in PlannedType]?: NotificationEvent }
}

const participle = (verb: string, settings: HappeningText['settings']): HappeningText => ({
  by: (noun) => `${verb} ${noun}`,
  alone: (noun) => `${capitalized(noun)} was ${verb}`,
  ...(settings && { settings }),
})

const changed = (what: string, settings: HappeningText['settings']): HappeningText => ({
  by: (noun) => `changed the ${what} of ${noun}`,
  alone: (noun) => `The ${what} of ${noun} changed`,
  ...(settings && { settings }),
})

export const happenings = {
  closed: participle('closed', { Issue: 'close_issue', MergeRequest: 'close_merge_request' }),
  reopened: participle('reopened', { Issue: 'reopen_issue', MergeRequest: 'reopen_merge_request' }),
  // For users who selected closed issues: a move closes the issue.
  moved: {
    by: (noun) => `moved ${noun} to another project`,
    alone: (noun) => `${capitalized(noun)} was moved to another project`,
    settings: { Issue: 'close_issue' },
  },
  merged: participle('merged', { MergeRequest: 'merge_merge_request' }),
  pushed: {
    by: (noun) => `pushed to ${noun}`,
    alone: (noun) => `${capitalized(noun)} has new commits`,
    settings: { MergeRequest: 'push_to_merge_request' },
  },
  auto_merge_enabled: {
    by: (noun) => `set ${noun} to be merged when its pipeline succeeds`,
    alone: (noun) => `${capitalized(noun)} will be merged when its pipeline succeeds`,
    settings: { MergeRequest: 'merge_when_pipeline_succeeds' },
  },
  assignees_changed: changed('assignees', { Issue: 'reassign_issue', MergeRequest: 'reassign_merge_request' }),
  reviewers_changed: changed('reviewers', { MergeRequest: 'change_reviewer_merge_request' }),
  // Mailed to users who subscribed to one of the labels.
  labels_added: {
    by: (noun) => `added a label to which you are subscribed to ${noun}`,
    alone: (noun) => `${capitalized(noun)} has a label to which you are subscribed`,
  },
} as const satisfies Readonly<Record<string, HappeningText>>

export type Happening = keyof typeof happenings

export const textOf = (happening: Happening): HappeningText => happenings[happening]
