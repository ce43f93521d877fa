import type { Static, TObject, TProperties } from 'typebox'
import { accountEvents } from './catalogue/accounts.ts'
import { administrationEvents } from './catalogue/administration.ts'
import { codeEvents } from './catalogue/code.ts'
import type { EventDeclaration, FeedAction } from './catalogue/declare.ts'
import { groupEvents } from './catalogue/groups.ts'
import { projectEvents } from './catalogue/projects.ts'
import { reviewEvents } from './catalogue/review.ts'

/** Every event there is (docs/events.md is generated from it). */
export const catalogue = {
  ...accountEvents,
  ...administrationEvents,
  ...codeEvents,
  ...groupEvents,
  ...projectEvents,
  ...reviewEvents,
}

type Catalogue = typeof catalogue

export type EventName = keyof Catalogue

/** The declaration of an event without its own type. */
export const declarationOf = (kind: EventName): EventDeclaration => catalogue[kind]

/** No field at all: `{}` would accept any. */
type Fields<P extends TProperties> = [keyof P] extends [never] ? Readonly<Record<string, never>> : Static<TObject<P>>

/** What the log stores of an event. */
export type Payload<K extends EventName> = K extends EventName ? Readonly<Fields<Catalogue[K]['payload']>> : never

/** Where an event of a project, a group or neither happens. */
export type EventPlace = { readonly projectId?: number; readonly groupId?: number }

type Place<K extends EventName> = Catalogue[K]['of'] extends readonly ['project']
  ? { readonly projectId: number; readonly groupId?: undefined }
  : Catalogue[K]['of'] extends readonly ['group']
    ? { readonly groupId: number; readonly projectId?: undefined }
    : EventPlace

type Facts<K extends EventName> = [keyof Catalogue[K]['facts']] extends [never]
  ? { readonly facts?: undefined }
  : { readonly facts: Readonly<Fields<Catalogue[K]['facts']>> }

type Feed<K extends EventName> = Catalogue[K] extends { readonly feed: 'lines' }
  ? { readonly lines: readonly FeedEntry[] }
  : { readonly shown?: FeedTarget }

/** An event of the catalogue as `emit` takes it and reactions get it. */
export type NewEvent<K extends EventName = EventName> = {
  readonly kind: K
  readonly actorId: number | null
  readonly payload: Payload<K>
} & Place<K> &
  Facts<K> &
  Feed<K>

/** What a line of activity leads to. */
export type FeedTarget = {
  /** The project itself or a membership without. `title` is as it was. */
  readonly target?: { readonly type: string; readonly id: number; readonly iid?: number; readonly title?: string }
  /** For those only who may read the code of the project. */
  readonly code?: boolean
}

/** One line of activity (modules/activity/event-feed shows them). */
export type FeedEntry = FeedTarget & {
  readonly action: FeedAction
  /** Whose line it is. Default: the actor of the event; without one, there is no line. */
  readonly authorId?: number
  /** What was pushed. */
  readonly push?: PushedRefs
}

/** What a push did to a ref, or to a number of refs alike: then it names none. As the wire spells it. */
export type PushedRefs = {
  /** New commits, counted to a bound of the emitter's; 0 for tags and for deleted refs. */
  commit_count: number
  action: 'created' | 'pushed' | 'removed'
  ref_type: 'branch' | 'tag'
  commit_from: string | null
  commit_to: string | null
  ref: string | null
  commit_title: string | null
  ref_count: number | null
}

/** Any event, for code that looks its fields up by the declaration. */
export type AnyEvent = {
  readonly kind: EventName
  readonly projectId?: number | undefined
  readonly groupId?: number | undefined
  readonly actorId: number | null
  readonly payload: object
  readonly facts?: object | undefined
  readonly shown?: FeedTarget | undefined
  readonly lines?: readonly FeedEntry[]
}
