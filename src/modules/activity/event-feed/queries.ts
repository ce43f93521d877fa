import type { Caller } from '../../../access/actor.ts'
import type { Direction, List } from '../../../api/list.ts'
import { integer, json, nullable, type RowOf, text, textOf, timestamp } from '../../../db/row.ts'
import { and, join, literal, raw, type Sql, sql } from '../../../db/sql.ts'
import type { FeedAction } from '../../../events/catalogue/declare.ts'
import type { PushedRefs } from '../../../events/catalogue.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import {
  groupTypes,
  type NoteableType,
  numberedOfProjects,
  readableById,
  readableRow,
  tableOf,
} from '../../discussion/index.ts'
import { projectOf, readableCode, readableWiki, visibleProjects } from '../../projects/index.ts'

export const feedRow = {
  id: integer,
  /** Null for epics. */
  project_id: nullable(integer),
  action: textOf<FeedAction>(),
  target_type: nullable(text),
  target_id: nullable(integer),
  target_iid: nullable(integer),
  target_title: nullable(text),
  /** Of a comment: its note, which exists. Null for comments of an earlier release that look like others. */
  note_id: nullable(integer),
  push: nullable(json<PushedRefs>()),
  created_at: timestamp,
  author: json<UserReferenceRow>(),
}
export type FeedRow = RowOf<typeof feedRow>

/** Activity of an author or of a project. */
export type FeedSet = { readonly of: 'author'; readonly id: number } | { readonly of: 'project'; readonly id: number }

export type FeedFilters = {
  readonly action?: FeedAction
  /** As stored: `MergeRequest`, which does not include comments on merge requests. */
  readonly targetType?: string
  /** Days, `YYYY-MM-DD`, both exclusive. */
  readonly before?: string
  readonly after?: string
  readonly sort: Direction
}

/** The target of the event is of another type, or the caller may read it. Confidential ones must exist still. */
const targetReadable = (caller: Caller, type: NoteableType): Sql => sql`
  (
    e.target_type is distinct from ${raw(`'${type}'`)}
    or exists (select from ${tableOf(type)} m where m.id = e.target_id and ${readableRow(type, caller)})
  )
`

/** An event in a group is about something that the caller may read. */
const inGroup = (caller: Caller): Sql => sql`
  case e.target_type ${join(
    groupTypes.map((type) => sql`when ${raw(`'${type}'`)} then ${readableById(type, raw('e.target_id'), caller)}`),
    ' ',
  )}
    else false
  end
`

/** Conditions on an event `e` in the project `p`: the caller may read it. */
const readableInProject = (caller: Caller): Sql[] => [
  raw('not p.deleting'),
  visibleProjects(caller),
  sql`(not e.code or ${readableCode(caller)})`,
  sql`(e.target_type is distinct from 'WikiPage::Meta' or ${readableWiki(caller)})`,
  sql`(${and(numberedOfProjects.map((type) => targetReadable(caller, type)))})`,
]

/** Lines of activity of one user that are looked at: bots have millions. */
const latestLines = 10_000

/**
 * The ids of projects with recent activity of a user that the caller may see, other than joining and leaving. Each target is looked at once.
 */
export const contributedTo = (caller: Caller, userId: number): Sql => sql`
  select e.project_id
  from (
      select distinct project_id, code, target_type, target_id
      from (
        select project_id, code, target_type, target_id, action
        from feed_events
        where author_id = ${userId}
        order by created_at desc, id desc
        limit ${literal(latestLines)}
      ) latest
      where action not in ('joined', 'left', 'expired') and project_id is not null
    ) e
    cross join ${projectOf('e')}
  where ${and(readableInProject(caller))}
`

/**
 * Events in projects, and for an author also in groups, that the caller can currently read; events about code, issues and merge requests only where the caller can read those,
 * and events about wiki pages only where the caller can read the wiki. Deleted comments have none, unless an earlier release recorded them.
 * Newest first unless `sort` is ascending. Each set has an index in the order of the list.
 */
export function feedOf(caller: Caller, set: FeedSet, { action, targetType, before, after, sort }: FeedFilters): List {
  const inProject = readableInProject(caller)
  const where: Sql[] = [
    ...(set.of === 'project'
      ? [sql`e.project_id = ${set.id}`, ...inProject]
      : [
          sql`e.author_id = ${set.id}`,
          sql`case when e.project_id is null then ${inGroup(caller)} else ${and(inProject)} end`,
        ]),
    raw('(e.note_id is null or exists (select from notes n where n.id = e.note_id))'),
  ]
  if (action !== undefined) where.push(sql`e.action = ${action}`)
  if (targetType === 'Note') where.push(raw("e.action = 'commented'"))
  else if (targetType !== undefined) where.push(sql`e.target_type = ${targetType} and e.action <> 'commented'`)
  if (before !== undefined) where.push(sql`e.created_at < ${before}::date at time zone 'UTC'`)
  if (after !== undefined) where.push(sql`e.created_at >= (${after}::date + 1) at time zone 'UTC'`)
  const from =
    set.of === 'project'
      ? raw('from feed_events e join projects p on p.id = e.project_id')
      : sql`from feed_events e left join ${projectOf('e')} on true`
  return {
    type: 'Event',
    select: sql`
      select e.id, e.project_id, e.action, e.target_type, e.target_id, e.target_iid, e.target_title, e.note_id, e.push,
        e.created_at, ${userReferenceJson('u')} as author ${from}
        join users u on u.id = e.author_id
    `,
    from,
    key: raw('e.id'),
    where,
    onePlan: true,
    order: [
      { by: raw('e.created_at'), direction: sort },
      { by: raw('e.id'), direction: sort },
    ],
  }
}
