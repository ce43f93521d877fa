import type { Static, TObject, TProperties } from 'typebox'
import { accountEvents } from './catalogue/accounts.ts'
import { administrationEvents } from './catalogue/administration.ts'
import { codeEvents, type MainChange } from './catalogue/code.ts'
import type { EventDeclaration, FeedAction } from './catalogue/declare.ts'
import { groupEvents } from './catalogue/groups.ts'
import { integrationEvents } from './catalogue/integrations.ts'
import { planningEvents } from './catalogue/planning.ts'
import { projectEvents } from './catalogue/projects.ts'
import { registryEvents } from './catalogue/registry.ts'
import { reviewEvents } from './catalogue/review.ts'
import { textEvents } from './catalogue/text.ts'

/** Every event (docs/events.md is generated from it). */
export const catalogue = {
  ...accountEvents,
  ...administrationEvents,
  ...codeEvents,
  ...groupEvents,
  ...integrationEvents,
  ...planningEvents,
  ...projectEvents,
  ...registryEvents,
  ...reviewEvents,
  ...textEvents,
}

export type { MainChange }

type Catalogue = typeof catalogue

export type EventName = keyof Catalogue

/** The declaration of an event without its own type. */
export const declarationOf = (kind: EventName): EventDeclaration => catalogue[kind]

/** No fields at all; `{}` would accept any. */
type Fields<P extends TProperties> = [keyof P] extends [never] ? Readonly<Record<string, never>> : Static<TObject<P>>

/** What the log stores of an event. */
export type Payload<K extends EventName> = K extends EventName ? Readonly<Fields<Catalogue[K]['payload']>> : never

/** The project or group of an event, or neither. */
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

/** An event as `emit` accepts it and reactions receive it. */
export type NewEvent<K extends EventName = EventName> = {
  readonly kind: K
  readonly actorId: number | null
  readonly payload: Payload<K>
} & Place<K> &
  Facts<K> &
  Feed<K>

/** The target of an activity entry. */
export type FeedTarget = {
  /** Absent for the project itself and for memberships. `title` is the title at that time. */
  readonly target?: { readonly type: string; readonly id: number; readonly iid?: number; readonly title?: string }
  /** The comment that the entry is about. */
  readonly noteId?: number
  /** Visible only to users who can read the code of the project. */
  readonly code?: boolean
  /** Instead of the action that the catalogue declares. */
  readonly action?: FeedAction
}

/** One entry of activity lists (modules/activity/event-feed shows them). */
export type FeedEntry = FeedTarget & {
  readonly action: FeedAction
  /** The user whose entry it is. Default: the actor of the event; without one, no entry is written. */
  readonly authorId?: number
  /** The pushed refs. */
  readonly push?: PushedRefs
}

/** The effect of a push on one ref, or the same effect on several refs: then without a name. In wire format. */
export type PushedRefs = {
  /** Number of new commits, up to a limit of the emitter; 0 for tags and for deleted refs. */
  commit_count: number
  action: 'created' | 'pushed' | 'removed'
  ref_type: 'branch' | 'tag'
  commit_from: string | null
  commit_to: string | null
  ref: string | null
  commit_title: string | null
  ref_count: number | null
}

/** Any event, for code that looks up its fields by the declaration. */
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
