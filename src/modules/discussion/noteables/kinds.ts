import { type Level, levels } from '../../../access/levels.ts'
import type { FeatureColumn } from '../../projects/index.ts'

/** How one kind of noteable is stored, read and named. */
type NoteableKind = {
  readonly table: string
  /** The column with its id in notes, mentions, awards, subscriptions, todos, time logs and label events. */
  readonly column: string
  /** The tables of users with a task in it, such as assignees; they have the same column, and `user_id`. */
  readonly assigned: readonly string[]
  /** The table of its labels; it has the same column. */
  readonly labels: string
  /** The column of projects with the level of the feature. */
  readonly feature: FeatureColumn
  /** The lowest role that reads it in a project where not everyone does. */
  readonly readableFrom: Level
  /** Has a flag `confidential`: then only the author, assignees, reporters and above read it. */
  readonly confidential: boolean
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
    assigned: ['issue_assignees'],
    labels: 'issue_labels',
    feature: 'issues_access_level',
    readableFrom: 'guest',
    confidential: true,
    resolvable: false,
    noun: 'issue',
    sign: '#',
    segment: 'issues',
  },
  MergeRequest: {
    table: 'merge_requests',
    column: 'merge_request_id',
    assigned: ['merge_request_assignees', 'merge_request_reviewers'],
    labels: 'merge_request_labels',
    feature: 'merge_requests_access_level',
    readableFrom: 'reporter',
    confidential: false,
    resolvable: true,
    noun: 'merge request',
    sign: '!',
    segment: 'merge_requests',
  },
} as const satisfies Readonly<Record<string, NoteableKind>>

export type NoteableType = keyof typeof noteableKinds

/** The tables of users with a task in a noteable. */
export type AssignedTable = (typeof noteableKinds)[NoteableType]['assigned'][number]

export const noteableTypes = Object.keys(noteableKinds) as NoteableType[]

export const isNoteableType = (word: string): word is NoteableType => Object.hasOwn(noteableKinds, word)

export const kindOf = (type: NoteableType): NoteableKind => noteableKinds[type]

export const lowestReader = (type: NoteableType): number => levels[kindOf(type).readableFrom]
