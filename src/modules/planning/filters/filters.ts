/** None of them, or any. */
export type Presence = 'None' | 'Any'

/** Without such users, with any, with this one, or with all of these. */
export type UserFilter = Presence | { readonly id: number } | { readonly usernames: readonly string[] }

/** Filters that apply to noteables in lists, and that can be negated. */
export type MatchingFilters = {
  readonly labels?: Presence | readonly string[]
  readonly milestone?: Presence | 'upcoming' | 'started' | { readonly title: string } | { readonly id: number }
  readonly author?: { readonly id: number } | { readonly username: string } | 'None'
  readonly assignee?: UserFilter
  /** Awarded by the caller. */
  readonly reaction?: Presence | { readonly name: string }
  readonly search?: { readonly text: string; readonly in: readonly ('title' | 'description')[] }
  readonly iids?: readonly number[]
}

/** What lists of every kind of noteable filter by. */
export type NoteableFilters = MatchingFilters & {
  readonly state?: string
  readonly scope?: 'created_by_me' | 'assigned_to_me'
  readonly createdAfter?: Date
  readonly createdBefore?: Date
  readonly updatedAfter?: Date
  readonly updatedBefore?: Date
}

/** Where a list looks for noteables. */
export type NoteableSet =
  | { readonly of: 'everyone' }
  /** The caller may read this kind there. */
  | { readonly of: 'project'; readonly id: number }
  /** With the groups below it; with archived projects, if `archived`. */
  | { readonly of: 'group'; readonly traversalIds: readonly number[]; readonly archived: boolean }

/** The same with the path of the project or group, to which references in the records are relative. */
export type NoteablePlace =
  | Extract<NoteableSet, { of: 'everyone' }>
  | (Exclude<NoteableSet, { of: 'everyone' }> & { readonly full_path: string })
