import type { Level } from '../../src/access/levels.ts'

/** The lowest role that may act on a private project; administrators always may, unless it says otherwise. */
type Least = Level | 'administrator'

/**
 * `<lowest role> <others>`: others are P (everyone if public, signed-in users who are not external if internal), L (the same,
 * signed in only) or - (no others). With `live`, the operation is refused for all once the project is archived.
 */
export type Who = `${Least} ${'P' | 'L' | '-'}${'' | ' live'}`

export type Row = readonly [
  /** Declared method and path, and a note that distinguishes rows of the same endpoint. */
  call: string,
  who: Who,
  /** Status for permitted callers; several if it depends on earlier calls. */
  status: number | readonly number[],
  more?: {
    readonly query?: string
    /** The value `:id` stands for the ID in the path. */
    readonly json?: object
    readonly headers?: Readonly<Record<string, string>>
    /** Sends a form that has a `file`. */
    readonly file?: true
    /** Replaces a parameter of the path: `{ ':branch': 'main' }`. */
    readonly at?: Readonly<Record<string, string>>
    /** Abilities that the operation checks besides the endpoint's own. */
    readonly also?: readonly string[]
    /** An ability on the group named by a parameter, of an endpoint that checks none itself. */
    readonly asks?: string
    /** Status for refused callers, if it is none of 401, 403 and 404. */
    readonly refused?: number
    /** Run only where it changes nothing. */
    readonly only?: 'archived' | 'live'
    readonly except?: 'public'
    /** Needs a member who can be removed. */
    readonly victim?: true
  },
]

/** An id that no row has. */
export const absent = '999999999'
/** Headers of a deletion that changes nothing. */
export const long = { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }

/** Names that find nothing for these parameters of the path. */
export const none = (...names: string[]) => ({ at: Object.fromEntries(names.map((name) => [`:${name}`, absent])) })

/** Operations on the discussions of a noteable at this path: `read` for readers, `write` for those who may comment. */
export function discussionsRows(at: string, read: Who, write: Who): Row[] {
  const discussions = `${at}/discussions`
  const text = { json: { body: 'x' } }
  return [
    [`GET ${discussions}`, read, 200],
    [`POST ${discussions}`, write, 201, text],
    [`GET ${discussions}/:discussion_id`, read, 200],
    [`GET ${discussions}/:discussion_id/notes`, read, 200],
    [`POST ${discussions}/:discussion_id/notes`, write, 201, text],
    [`GET ${discussions}/:discussion_id/notes/:note_id`, read, 200],
    [`PUT ${discussions}/:discussion_id/notes/:note_id`, 'maintainer - live', 200, { ...text, also: ['admin_note'] }],
    [`DELETE ${discussions}/:discussion_id/notes/:note_id`, 'maintainer - live', 412, { headers: long }],
  ]
}

/** Operations on what is said about a noteable at this path: `read` for readers, `write` for those who may comment. */
export function discussionRows(at: string, read: Who, write: Who): Row[] {
  const notes = `${at}/notes`
  const text = { json: { body: 'x' } }
  return [
    [`GET ${notes}`, read, 200],
    [`POST ${notes}`, write, 201, text],
    [`GET ${notes}/:note_id`, read, 200],
    [`PUT ${notes}/:note_id`, 'maintainer - live', 200, text],
    [`DELETE ${notes}/:note_id`, 'maintainer - live', 412, { headers: long }],
    ...discussionsRows(at, read, write),
    ...[at, `${notes}/:note_id`].flatMap((awarded): Row[] => [
      [`GET ${awarded}/award_emoji`, read, 200],
      [`POST ${awarded}/award_emoji`, write, [201, 404], { json: { name: 'tada' } }],
      [`GET ${awarded}/award_emoji/:award_id`, read, 404, none('award_id')],
      [`DELETE ${awarded}/award_emoji/:award_id`, write, 404, none('award_id')],
    ]),
  ]
}
