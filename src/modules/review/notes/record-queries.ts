import type { Direction, List } from '../../../api/page.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { raw, type Sql, sql, wireTime } from '../../../db/sql.ts'
import type { Timestamp } from '../../../db/types.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import type { Position } from '../../repository/index.ts'

/** What somebody said about a merge request, or what is told of what he did. */
export type NoteRow = {
  readonly id: number
  readonly discussion_id: string
  readonly merge_request_id: number
  /** Number of the merge request in its project. */
  readonly merge_request_iid: number
  readonly author: UserReferenceRow
  readonly body: string
  readonly system: boolean
  readonly threaded: boolean
  readonly position: Position | null
  readonly resolved_at: Timestamp | null
  readonly resolved_by: UserReferenceRow | null
  readonly created_at: Timestamp
  readonly updated_at: Timestamp
}

export type DiscussionRow = {
  /** Of its first note. */
  readonly id: number
  readonly discussion_id: string
  /** The oldest first; at least one. */
  readonly notes: readonly NoteRow[]
}

const joins = raw(`from notes n join merge_requests m on m.id = n.merge_request_id join users u on u.id = n.author_id
  left join users r on r.id = n.resolved_by_id`)

const resolver = sql`case when r.id is not null then ${userReferenceJson('r')} end`

const note = sql`select n.id, n.discussion_id, n.merge_request_id, m.iid as merge_request_iid, ${userReferenceJson('u')} as author, n.body,
  n.system, n.threaded, n.position, n.resolved_at, ${resolver} as resolved_by, n.created_at, n.updated_at ${joins}`

const noteJson = sql`json_build_object('id', n.id, 'discussion_id', n.discussion_id, 'merge_request_id', n.merge_request_id,
  'merge_request_iid', m.iid, 'author', ${userReferenceJson('u')}, 'body', n.body, 'system', n.system, 'threaded', n.threaded,
  'position', n.position, 'resolved_at', ${wireTime(raw('n.resolved_at'))}, 'resolved_by', ${resolver},
  'created_at', ${wireTime(raw('n.created_at'))}, 'updated_at', ${wireTime(raw('n.updated_at'))})`

const discussion = sql`select f.id, f.discussion_id, (select json_agg(${noteJson} order by n.id) ${joins}
    where n.merge_request_id = f.merge_request_id and n.discussion_id = f.discussion_id) as notes
  from notes f`

export type NoteOrder = { readonly order_by: 'created_at' | 'updated_at'; readonly sort: Direction }

export const notesOf = (mergeRequestId: number, { order_by, sort }: NoteOrder): List => ({
  type: 'Note',
  select: note,
  from: raw('from notes n'),
  key: raw('n.id'),
  where: [sql`n.merge_request_id = ${mergeRequestId}`],
  order: [
    { by: order_by === 'created_at' ? raw('n.created_at') : raw('n.updated_at'), direction: sort },
    { by: raw('n.id'), direction: sort },
  ],
})

/** Of a discussion, the oldest first. */
export const notesOfDiscussion = (mergeRequestId: number, discussionId: string): List => ({
  type: 'Note',
  select: note,
  from: raw('from notes n'),
  where: [sql`n.merge_request_id = ${mergeRequestId}`, sql`n.discussion_id = ${discussionId}`],
  order: [{ by: raw('n.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

/** In the order in which they began. */
export const discussionsOf = (mergeRequestId: number): List => ({
  type: 'Discussion',
  select: discussion,
  from: raw('from notes f'),
  key: raw('f.id'),
  where: [
    sql`f.merge_request_id = ${mergeRequestId}`,
    raw(`not exists (select from notes e where e.merge_request_id = f.merge_request_id and e.discussion_id = f.discussion_id
      and e.id < f.id)`),
  ],
  order: [{ by: raw('f.id'), direction: 'asc' }],
})

export const findDiscussion = (
  db: Db | Tx,
  mergeRequestId: number,
  discussionId: string,
): Promise<DiscussionRow | undefined> =>
  db.row<DiscussionRow>(sql`${discussion} where f.merge_request_id = ${mergeRequestId} and f.discussion_id = ${discussionId}
    order by f.id limit 1`)

/** A note of a merge request; with a discussion, of that. */
export const findNote = (
  db: Db | Tx,
  mergeRequestId: number,
  id: number,
  discussionId?: string,
): Promise<NoteRow | undefined> =>
  db.row<NoteRow>(
    sql`${note} where n.merge_request_id = ${mergeRequestId} and n.id = ${id} and ${ofDiscussion(discussionId)}`,
  )

const ofDiscussion = (id: string | undefined): Sql => (id === undefined ? raw('true') : sql`n.discussion_id = ${id}`)
