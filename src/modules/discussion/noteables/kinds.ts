import { type Level, levels } from '../../../access/levels.ts'
import type { FeatureColumn } from '../../projects/index.ts'

/** How one kind of noteable is stored, read and named. */
type NoteableKind = {
  readonly table: string
  /** The column with its id in notes, mentions, awards and subscriptions; with `planned`, also in todos, time logs and events. */
  readonly column: string
  /** The column with the number that references and URLs contain: `iid` counts within the holder, `id` in the instance. */
  readonly number: 'iid' | 'id'
  /** What only work that is planned has: states, todos, and these tables. */
  readonly planned?: {
    /** The table of its labels; it has the same column. */
    readonly labels: string
    /** With milestones and time tracking, too. */
    readonly scheduled?: {
      /** The tables of users with a task in it, such as assignees; they have the same column, and `user_id`. */
      readonly assigned: readonly string[]
    }
  }
  /** What it belongs to: a project, which has the level of its feature in this column, or a group. */
  readonly holder: { readonly of: 'project'; readonly feature: FeatureColumn } | { readonly of: 'group' }
  /** The lowest role that reads it in a holder where not everyone does. */
  readonly readableFrom: Level
  /** Who else reads it where the holder is open to them: with `anyone`, anonymous callers too. */
  readonly open: 'anyone' | 'signed_in'
  /**
   * What hides single ones from readers of the holder. `confidential`: a flag; if set, only the author, assignees, reporters and above read
   * it. `visibility`: a visibility of its own; the author and members read all.
   */
  readonly hiddenBy?: 'confidential' | 'visibility'
  /** It has a diff with positions, and its discussions can be resolved. */
  readonly resolvable: boolean
  /** Name in mails. */
  readonly noun: string
  /** In references, between the path of the holder and its number. */
  readonly sign: string
  /** In URLs of the site, before its number. */
  readonly segment: string
}

/** What can be discussed. A new kind is a row here, and a column in the tables of this module. */
export const noteableKinds = {
  Issue: {
    table: 'issues',
    column: 'issue_id',
    number: 'iid',
    planned: { labels: 'issue_labels', scheduled: { assigned: ['issue_assignees'] } },
    holder: { of: 'project', feature: 'issues_access_level' },
    readableFrom: 'guest',
    open: 'signed_in',
    hiddenBy: 'confidential',
    resolvable: false,
    noun: 'issue',
    sign: '#',
    segment: 'issues',
  },
  MergeRequest: {
    table: 'merge_requests',
    column: 'merge_request_id',
    number: 'iid',
    planned: {
      labels: 'merge_request_labels',
      scheduled: { assigned: ['merge_request_assignees', 'merge_request_reviewers'] },
    },
    holder: { of: 'project', feature: 'merge_requests_access_level' },
    readableFrom: 'reporter',
    open: 'signed_in',
    resolvable: true,
    noun: 'merge request',
    sign: '!',
    segment: 'merge_requests',
  },
  /** Those of projects; personal snippets have no notes. */
  Snippet: {
    table: 'snippets',
    column: 'snippet_id',
    number: 'id',
    holder: { of: 'project', feature: 'snippets_access_level' },
    readableFrom: 'guest',
    open: 'anyone',
    hiddenBy: 'visibility',
    resolvable: false,
    noun: 'snippet',
    sign: '$',
    segment: 'snippets',
  },
  Epic: {
    table: 'epics',
    column: 'epic_id',
    number: 'iid',
    planned: { labels: 'epic_labels' },
    holder: { of: 'group' },
    readableFrom: 'guest',
    open: 'signed_in',
    hiddenBy: 'confidential',
    resolvable: false,
    noun: 'epic',
    sign: '&',
    segment: 'epics',
  },
} as const satisfies Readonly<Record<string, NoteableKind>>

export type NoteableType = keyof typeof noteableKinds

type Kinds = typeof noteableKinds

/** Kinds that have states, labels and todos. */
export type PlannedType = { [T in NoteableType]: Kinds[T] extends { planned: object } ? T : never }[NoteableType]

/** Kinds that also have milestones, assignees and time tracking. All belong to projects. */
export type ScheduledType = {
  [T in PlannedType]: Kinds[T]['planned'] extends { scheduled: object } ? T : never
}[PlannedType]

/** Kinds that belong to projects. */
export type ProjectType = { [T in NoteableType]: Kinds[T]['holder']['of'] extends 'project' ? T : never }[NoteableType]

/** The tables of users with a task in a noteable. */
export type AssignedTable = Kinds[ScheduledType]['planned']['scheduled']['assigned'][number]

export const noteableTypes = Object.keys(noteableKinds) as NoteableType[]

export const kindOf = (type: NoteableType): NoteableKind => noteableKinds[type]

export const isPlanned = (type: NoteableType): type is PlannedType => kindOf(type).planned !== undefined

export const isScheduled = (type: NoteableType): type is ScheduledType => kindOf(type).planned?.scheduled !== undefined

const isOfProject = (type: NoteableType): type is ProjectType => kindOf(type).holder.of === 'project'

export const plannedTypes: readonly PlannedType[] = noteableTypes.filter(isPlanned)

export const scheduledTypes: readonly ScheduledType[] = noteableTypes.filter(isScheduled)

export const projectTypes: readonly ProjectType[] = noteableTypes.filter(isOfProject)

/** Kinds that belong to groups. */
export const groupTypes: readonly NoteableType[] = noteableTypes.filter((type) => kindOf(type).holder.of === 'group')

export const isNoteableType = (word: string): word is NoteableType => Object.hasOwn(noteableKinds, word)

export const isPlannedType = (word: string): word is PlannedType => isNoteableType(word) && isPlanned(word)

/** The tables of users with a task in noteables of a kind. */
export const assignedTables = (type: NoteableType): readonly string[] => kindOf(type).planned?.scheduled?.assigned ?? []

/** The column of projects with the level of the feature to which a kind belongs. */
export function featureOf(type: ProjectType): FeatureColumn {
  return noteableKinds[type].holder.feature
}

export const lowestReader = (type: NoteableType): number => levels[kindOf(type).readableFrom]
