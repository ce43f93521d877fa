import { type Level, levels } from '../../../access/levels.ts'
import type { FeatureColumn } from '../../projects/index.ts'

/** How one kind of noteable is stored, read and named. */
type NoteableKind = {
  readonly table: string
  /** The column with its id in notes, mentions, awards and subscriptions, in todos if it has some, and in tables of what only some kinds have. */
  readonly column: string
  /**
   * The column that references and URLs contain: `iid` counts within the holder, `id` in the instance. What has an `oid` instead, an object id
   * of git, has no number in records and events, and its row is made with its first note.
   */
  readonly number: 'iid' | 'id' | 'oid'
  /** Mentions and the like add it to the todos of users. */
  readonly todos: boolean
  /** What only work that is planned has: states, and these tables. */
  readonly planned?: {
    /** The table of its labels; it has the same column. */
    readonly labels: string
    /** With milestones and time tracking, too. */
    readonly scheduled?: {
      /** The tables of users with a task in it, such as assignees; they have the same column, and `user_id`. */
      readonly assigned: readonly string[]
      /** The table of its times of update, with an index of what lists check, and a view with all columns that starts from there (ADR 38). */
      readonly updates: { readonly table: string; readonly view: string }
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
  /** Its discussions can be resolved. */
  readonly resolvable: boolean
  /** What its notes can have positions in: the diffs of its versions, with images, or the diff of the one commit. */
  readonly diff?: 'versions' | 'commit'
  /** What a reply to a single note does: it makes a discussion of both, or it is refused. */
  readonly replies: 'to all' | 'to discussions'
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
    todos: true,
    planned: {
      labels: 'issue_labels',
      scheduled: { assigned: ['issue_assignees'], updates: { table: 'issue_updates', view: 'issues_by_update' } },
    },
    holder: { of: 'project', feature: 'issues_access_level' },
    readableFrom: 'guest',
    open: 'signed_in',
    hiddenBy: 'confidential',
    resolvable: false,
    replies: 'to all',
    noun: 'issue',
    sign: '#',
    segment: 'issues',
  },
  MergeRequest: {
    table: 'merge_requests',
    column: 'merge_request_id',
    number: 'iid',
    todos: true,
    planned: {
      labels: 'merge_request_labels',
      scheduled: {
        assigned: ['merge_request_assignees', 'merge_request_reviewers'],
        updates: { table: 'merge_request_updates', view: 'merge_requests_by_update' },
      },
    },
    holder: { of: 'project', feature: 'merge_requests_access_level' },
    readableFrom: 'reporter',
    open: 'signed_in',
    resolvable: true,
    diff: 'versions',
    replies: 'to all',
    noun: 'merge request',
    sign: '!',
    segment: 'merge_requests',
  },
  /** Those of projects; personal snippets have no notes. */
  Snippet: {
    table: 'snippets',
    column: 'snippet_id',
    number: 'id',
    todos: false,
    holder: { of: 'project', feature: 'snippets_access_level' },
    readableFrom: 'guest',
    open: 'anyone',
    hiddenBy: 'visibility',
    resolvable: false,
    replies: 'to all',
    noun: 'snippet',
    sign: '$',
    segment: 'snippets',
  },
  Epic: {
    table: 'epics',
    column: 'epic_id',
    number: 'iid',
    todos: true,
    planned: { labels: 'epic_labels' },
    holder: { of: 'group' },
    readableFrom: 'guest',
    open: 'signed_in',
    hiddenBy: 'confidential',
    resolvable: false,
    replies: 'to all',
    noun: 'epic',
    sign: '&',
    segment: 'epics',
  },
  Commit: {
    table: 'commented_commits',
    column: 'commit_id',
    number: 'oid',
    todos: true,
    holder: { of: 'project', feature: 'repository_access_level' },
    readableFrom: 'reporter',
    open: 'anyone',
    resolvable: false,
    diff: 'commit',
    replies: 'to discussions',
    noun: 'commit',
    sign: '@',
    segment: 'commit',
  },
} as const satisfies Readonly<Record<string, NoteableKind>>

export type NoteableType = keyof typeof noteableKinds

type Kinds = typeof noteableKinds

/** Kinds that users have todos for. */
export type TodoType = { [T in NoteableType]: Kinds[T]['todos'] extends true ? T : never }[NoteableType]

/** Kinds that have states and labels. */
export type PlannedType = { [T in NoteableType]: Kinds[T] extends { planned: object } ? T : never }[NoteableType]

/** Kinds that also have milestones, assignees and time tracking. All belong to projects. */
export type ScheduledType = {
  [T in PlannedType]: Kinds[T]['planned'] extends { scheduled: object } ? T : never
}[PlannedType]

/** Kinds with a number, by which texts and records name them. */
export type NumberedType = { [T in NoteableType]: Kinds[T]['number'] extends 'oid' ? never : T }[NoteableType]

/** Kinds that belong to projects. */
export type ProjectType = { [T in NoteableType]: Kinds[T]['holder']['of'] extends 'project' ? T : never }[NoteableType]

/** The tables of users with a task in a noteable. */
export type AssignedTable = Kinds[ScheduledType]['planned']['scheduled']['assigned'][number]

export const noteableTypes = Object.keys(noteableKinds) as NoteableType[]

export const kindOf = (type: NoteableType): NoteableKind => noteableKinds[type]

export const isPlanned = (type: NoteableType): type is PlannedType => kindOf(type).planned !== undefined

export const hasTodos = (type: NoteableType): type is TodoType => kindOf(type).todos

export const isScheduled = (type: NoteableType): type is ScheduledType => kindOf(type).planned?.scheduled !== undefined

export const isNumbered = (type: NoteableType): type is NumberedType => kindOf(type).number !== 'oid'

const isOfProject = (type: NoteableType): type is ProjectType => kindOf(type).holder.of === 'project'

const isNumberedOfProject = (type: NumberedType): type is ProjectType & NumberedType => isOfProject(type)

export const todoTypes: readonly TodoType[] = noteableTypes.filter(hasTodos)

export const plannedTypes: readonly PlannedType[] = noteableTypes.filter(isPlanned)

export const scheduledTypes: readonly ScheduledType[] = noteableTypes.filter(isScheduled)

export const numberedTypes: readonly NumberedType[] = noteableTypes.filter(isNumbered)

export const projectTypes: readonly ProjectType[] = noteableTypes.filter(isOfProject)

export const numberedOfProjects: readonly (ProjectType & NumberedType)[] = numberedTypes.filter(isNumberedOfProject)

/** Kinds that belong to groups. */
export const groupTypes: readonly NumberedType[] = numberedTypes.filter((type) => kindOf(type).holder.of === 'group')

export const isNoteableType = (word: string): word is NoteableType => Object.hasOwn(noteableKinds, word)

export const isTodoType = (word: string): word is TodoType => isNoteableType(word) && hasTodos(word)

export const isPlannedType = (word: string): word is PlannedType => isNoteableType(word) && isPlanned(word)

/** The tables of users with a task in noteables of a kind. */
export const assignedTables = (type: NoteableType): readonly string[] => kindOf(type).planned?.scheduled?.assigned ?? []

/** The column of projects with the level of the feature to which a kind belongs. */
export function featureOf(type: ProjectType): FeatureColumn {
  return noteableKinds[type].holder.feature
}

export const lowestReader = (type: NoteableType): number => levels[kindOf(type).readableFrom]
