import type { TObject } from 'typebox'
import type { Facts, Policy } from '../../../access/policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Subject } from '../../../api/endpoint.ts'
import type { Tx } from '../../../db/db.ts'
import type { ProjectOrGroupHolder } from '../../groups/index.ts'
import type { NotePlace, TextPosition, WantedPlace } from '../positions/position.ts'
import type { QuickActions } from '../quick-actions/apply.ts'
import { kindOf, type NoteableType, type PlannedType, type ProjectType } from './kinds.ts'

/** Something that can be discussed. */
export type Noteable = {
  readonly type: NoteableType
  readonly id: number
  /** The project or group that it belongs to. */
  readonly holder: ProjectOrGroupHolder
}

/** A noteable with labels. */
export type PlannedNoteable = Noteable & { readonly type: PlannedType }

/** The id of the holder in rows of a kind. */
type HolderId<T extends NoteableType> = T extends ProjectType
  ? { readonly project_id: number }
  : { readonly group_id: number }

/** Makes what notes, todos and subscriptions refer to of a row of this kind. */
export const noteableAs =
  <T extends NoteableType>(type: T) =>
  (row: { readonly id: number } & HolderId<T>): Noteable & { readonly type: T } => ({
    type,
    id: row.id,
    holder: 'project_id' in row ? { of: 'project', id: row.project_id } : { of: 'group', id: row.group_id },
  })

/** Abilities that the policy of every kind has, besides reading and changing it. */
export type NoteAbility = 'comment' | 'award' | 'admin_note' | 'date_note'

/** Those of kinds whose discussions can be resolved. */
export type ResolvingAbility = NoteAbility | 'resolve_discussion'

/** A file at a position of a diff. */
export type FileAt = {
  readonly text: string
  /** How far lines have moved up to the current head; undefined if they have changed. */
  shiftOf(fromLine: number, toLine: number): number | undefined
}

/** The noteable of a request, with the operations that only its module can do. */
export type Discussed = Noteable & {
  /** Its number in its holder; the id of a snippet or a commit, which have none. */
  readonly iid: number
  /** The object id of a commit. */
  readonly oid?: string
  readonly title: string
  /** The caller's permissions at this moment. Undefined, or throws, if the caller cannot read it any more. */
  factsNow(ctx: Ctx): Promise<Facts | undefined>
  readonly policy: Policy<NoteAbility> & Partial<Policy<ResolvingAbility>>
  /** Locks its row until the transaction ends and sets the time of its last change. False if it is gone. */
  touch(tx: Tx): Promise<boolean>
  /**
   * Instead of `touch` before a new note, for kinds whose row is made with the first one: locks the row, or makes it. Resolves to its id;
   * undefined if the holder is gone. Without a row, the noteable has the id 0, which no row has.
   */
  begin?(tx: Tx, ctx: Ctx): Promise<number | undefined>
  /** The quick actions that its texts may have. */
  readonly quickActions?: QuickActions
  /** The position in its diff, for kinds that have one. Throws if the diff does not show it. */
  placeOf?(ctx: Ctx, wanted: WantedPlace): Promise<NotePlace>
  /** The file at a position of its diff, for kinds whose notes may suggest changes; undefined if lines of it cannot be replaced. */
  fileAt?(ctx: Ctx, position: TextPosition): Promise<FileAt | undefined>
}

/** A noteable with time tracking. */
export type Tracked = Noteable & {
  /** Sets its estimate in seconds, and the time of its last change. */
  saveEstimate(tx: Tx, seconds: number): Promise<unknown>
  touch(tx: Tx): Promise<boolean>
  /** Emits the change of these attributes. */
  emitUpdated(
    tx: Tx,
    actorId: number,
    changes: Readonly<Record<string, readonly [before: number, now: number]>>,
  ): Promise<void>
}

/** How endpoints of one kind name a noteable. */
export type DiscussedSubject<T extends { readonly facts: Facts }, A extends string, P extends TObject> = {
  readonly type: NoteableType
  /** For the documentation: `merge request`. */
  readonly noun: string
  readonly subject: Subject<T, A | NoteAbility, P>
  /** Below `/api/v4`. */
  readonly path: string
  readonly read: A
  readonly update: A
  readonly discussed: (subject: T) => Discussed
}

export const discussedSubject = <T extends { readonly facts: Facts }, A extends string, P extends TObject>(
  about: Omit<DiscussedSubject<T, A, P>, 'noun'>,
): DiscussedSubject<T, A, P> => ({ ...about, noun: kindOf(about.type).noun })

/** The noun of a kind with its article: `a merge request`. */
export const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
