import { type Static, type TProperties, type TSchema, Type } from 'typebox'

/** The scope of an event: its project or group, or an account that its payload names as `user_id`. */
export type Scope = 'project' | 'group' | 'user' | 'instance'

/** The kinds of lines in activity lists. */
export type FeedAction =
  | 'created'
  | 'updated'
  | 'closed'
  | 'reopened'
  | 'pushed'
  | 'commented'
  | 'merged'
  | 'joined'
  | 'left'
  | 'destroyed'
  | 'expired'

/** Names of the properties whose value may be of a type. */
type Naming<P extends TProperties, T> = {
  [K in keyof P & string]: Static<P[K]> extends T ? K : never
}[keyof P & string]

/** The audit row of an event. Each field it names is one of the payload or of the facts. */
export type Audited<Field extends string = string, Id extends string = Field, Text extends string = Field> = {
  readonly verb: 'add' | 'change' | 'remove'
  /** What is added to, changed in or removed from the entity. */
  readonly noun: string
  /** If one of these fields is true, another event of the same operation writes the audit row. */
  readonly unless?: readonly Field[]
  /** The field with the path of the entity. Default: its current path. */
  readonly path?: Text
  /** The object of the operation, with the fields of its id and its name. Default: the entity itself. */
  readonly target?: { readonly type: string; readonly id?: Id; readonly name?: Text }
}

/** The activity entry of an event. */
export type FeedLine<Id extends string = string, Flag extends string = string> = {
  readonly action: FeedAction
  /** The field with the id of the user whose entry it is. Default: the actor. */
  readonly author?: Id
  /** Events of groups have an entry, too. Default: only events of projects. */
  readonly inGroups?: true
  /** If this field is true, another event of the same operation has the entry. */
  readonly unless?: Flag
}

/** An event as the catalogue declares it. */
export type EventDeclaration = {
  /** When it happens, as a sentence without a full stop. */
  readonly when: string
  readonly of: readonly Scope[]
  readonly payload: TProperties
  readonly facts: TProperties
  readonly audit?: Audited
  readonly feed?: FeedLine | 'lines'
}

type More<P extends TProperties, F extends TProperties> = {
  /**
   * The ids of the rows that the event is about, and values that cannot be read from them later. The log stores nothing else.
   */
  readonly payload?: P
  /** Other values that reactions and the audit row need: names, addresses, texts. The log does not store them. */
  readonly facts?: F
  /** Absent: the event has no audit row. */
  readonly audit?: Audited<keyof (P & F) & string, Naming<P & F, number | undefined>, Naming<P & F, string | undefined>>
  /** The entry in activity lists. `lines`: the code that emits the event passes them. */
  readonly feed?: FeedLine<Naming<P, number>, keyof P & string> | 'lines'
}

/** Declares an event. One in the scope `user` has a `user_id` in its payload. */
export const event = <
  const S extends readonly Scope[],
  P extends TProperties = Record<never, never>,
  F extends TProperties = Record<never, never>,
  const M extends More<P, F> = More<P, F>,
>(
  when: string,
  of: S,
  more: M & { readonly payload?: P; readonly facts?: F } & (S[number] & 'user' extends never
      ? unknown
      : { readonly payload: { readonly user_id: TSchema } }),
) => ({
  ...more,
  when,
  of,
  payload: (more.payload ?? {}) as P,
  facts: (more.facts ?? {}) as F,
})

/** The types of fields. */
export const id = Type.Integer()
export const number = Type.Integer()
export const text = Type.String()
export const flag = Type.Boolean()
export const texts = Type.Unsafe<readonly string[]>(Type.Array(Type.String()))
export const ids = Type.Unsafe<readonly number[]>(Type.Array(Type.Integer()))
/** `YYYY-MM-DD`; null for no end. */
export const day = Type.Unsafe<string | null>(Type.Union([Type.String(), Type.Null()]))
export const optional = Type.Optional

/** By attribute: the value before and after. The old value cannot be read later. */
export const changes = optional(
  Type.Unsafe<Readonly<Record<string, readonly [before: unknown, now: unknown]>>>(
    Type.Object({}, { title: 'changes' }),
  ),
)
