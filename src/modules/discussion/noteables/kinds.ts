import { type Level, levels } from '../../../access/levels.ts'
import type { FeatureColumn } from '../../projects/index.ts'

/** How one kind of noteable is stored, read and named. */
type NoteableKind = {
  readonly table: string
  /** The column with its id in notes, mentions, awards and subscriptions; with `planned`, also in todos, time logs and events. */
  readonly column: string
  /** The column with the number that references and URLs contain: `iid` counts within the project, `id` in the instance. */
  readonly number: 'iid' | 'id'
  /** What only work that is planned has: states, milestones, todos, time tracking, and these tables. */
  readonly planned?: {
    /** The tables of users with a task in it, such as assignees; they have the same column, and `user_id`. */
    readonly assigned: readonly string[]
    /** The table of its labels; it has the same column. */
    readonly labels: string
  }
  /** The column of projects with the level of the feature. */
  readonly feature: FeatureColumn
  /** The lowest role that reads it in a project where not everyone does. */
  readonly readableFrom: Level
  /** Who else reads it where the project is open to them: with `anyone`, anonymous callers too. */
  readonly open: 'anyone' | 'signed_in'
  /**
   * What hides single ones from readers of the project. `confidential`: a flag; if set, only the author, assignees, reporters and above read
   * it. `visibility`: a visibility of its own; the author and members read all.
   */
  readonly hiddenBy?: 'confidential' | 'visibility'
  /** It has a diff with positions, and its discussions can be resolved. */
  readonly resolvable: boolean
  /** Name in mails. */
  readonly noun: string
  /** In references, between the path of the project and its number. */
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
    planned: { assigned: ['issue_assignees'], labels: 'issue_labels' },
    feature: 'issues_access_level',
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
    planned: { assigned: ['merge_request_assignees', 'merge_request_reviewers'], labels: 'merge_request_labels' },
    feature: 'merge_requests_access_level',
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
    feature: 'snippets_access_level',
    readableFrom: 'guest',
    open: 'anyone',
    hiddenBy: 'visibility',
    resolvable: false,
    noun: 'snippet',
    sign: '$',
    segment: 'snippets',
  },
} as const satisfies Readonly<Record<string, NoteableKind>>

export type NoteableType = keyof typeof noteableKinds

/** Kinds that have states, labels, milestones, assignees, todos and time tracking. */
export type PlannedType = {
  [T in NoteableType]: (typeof noteableKinds)[T] extends { planned: object } ? T : never
}[NoteableType]

/** The tables of users with a task in a noteable. */
export type AssignedTable = (typeof noteableKinds)[PlannedType]['planned']['assigned'][number]

export const noteableTypes = Object.keys(noteableKinds) as NoteableType[]

export const isPlanned = (type: NoteableType): type is PlannedType => 'planned' in noteableKinds[type]

export const plannedTypes: readonly PlannedType[] = noteableTypes.filter(isPlanned)

export const isPlannedType = (word: string): word is PlannedType => isNoteableType(word) && isPlanned(word)

export const isNoteableType = (word: string): word is NoteableType => Object.hasOwn(noteableKinds, word)

export const kindOf = (type: NoteableType): NoteableKind => noteableKinds[type]

export const lowestReader = (type: NoteableType): number => levels[kindOf(type).readableFrom]
