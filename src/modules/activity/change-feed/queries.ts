import type { Actor, Caller } from '../../../access/actor.ts'
import { levels } from '../../../access/levels.ts'
import type { Db } from '../../../db/db.ts'
import { integer, text } from '../../../db/row.ts'
import { join, literal, raw, type Sql, sql } from '../../../db/sql.ts'
import {
  joinHolder,
  type NoteableType,
  readableKind,
  readableRow,
  tableOf,
  visibleHolder,
} from '../../discussion/index.ts'
import { groupsOfMember, visibleGroups } from '../../namespaces/index.ts'
import { memberAtLeast, readableCode, visibleProjects } from '../../projects/index.ts'
import { type PlaceKind, placeKinds } from './targets.ts'

/** Besides the places: namespaces of deleted projects and groups, which the caller may see, or of which they are a member. */
const foundKinds = [...placeKinds, 'SeenNamespace', 'OwnNamespace'] as const
export type FoundKind = (typeof foundKinds)[number]

/** Ids by the kind of what they belong to. */
export type PlaceIds = Readonly<Record<PlaceKind | 'Namespace', readonly number[]>>

const projects = (caller: Caller, ids: readonly number[], more: Sql = raw('true')): Sql => sql`
  select p.id
  from projects p
  where p.id = any(${ids}::bigint[]) and not p.deleting and ${visibleProjects(caller)} and ${more}
`

const noteables = (caller: Caller, type: NoteableType, ids: readonly number[]): Sql => sql`
  select m.id
  from ${tableOf(type)} m ${joinHolder(type)}
  where m.id = any(${ids}::bigint[]) and ${visibleHolder(type, caller)} and ${readableRow(type, caller)}
`

const groups = (caller: Caller, ids: readonly number[], more: Sql = raw('true')): Sql => sql`
  select g.id
  from namespaces g
  where g.id = any(${ids}::bigint[]) and g.kind = 'group' and not g.deleting and ${visibleGroups(caller)} and ${more}
`

/** Personal namespaces: everyone may see them, and their owner is their member. */
const spaces = (ids: readonly number[], condition: Sql): Sql => sql`
  select n.id
  from namespaces n
  where n.id = any(${ids}::bigint[]) and n.kind = 'user' and not n.deleting and ${condition}
`

/** Those of the places that the caller may read now. One statement. */
export async function readablePlaces(
  db: Db,
  caller: Actor,
  ids: PlaceIds,
): Promise<(kind: FoundKind, id: number) => boolean> {
  const issues = readableKind('Issue', caller)
  const hidden = caller.admin ? issues : sql`${issues} and ${memberAtLeast(caller, levels.reporter)}`
  const epics = readableKind('Epic', caller)
  const hiddenEpics = caller.admin ? epics : sql`${epics} and ${groupsOfMember(caller.id, levels.reporter)}`
  const parts: readonly (readonly [FoundKind, Sql])[] = [
    ['Project', projects(caller, ids.Project)],
    ['Repository', projects(caller, ids.Repository, readableCode(caller))],
    ['Issue', noteables(caller, 'Issue', ids.Issue)],
    ['MergeRequest', noteables(caller, 'MergeRequest', ids.MergeRequest)],
    ['Epic', noteables(caller, 'Epic', ids.Epic)],
    ['Group', groups(caller, ids.Group)],
    ['IssuesOf', projects(caller, ids.IssuesOf, issues)],
    ['ConfidentialIssuesOf', projects(caller, ids.ConfidentialIssuesOf, hidden)],
    ['MergeRequestsOf', projects(caller, ids.MergeRequestsOf, readableKind('MergeRequest', caller))],
    ['EpicsOf', groups(caller, ids.EpicsOf, epics)],
    ['ConfidentialEpicsOf', groups(caller, ids.ConfidentialEpicsOf, hiddenEpics)],
    ['SeenNamespace', groups(caller, ids.Namespace)],
    ['OwnNamespace', groups(caller, ids.Namespace, groupsOfMember(caller.id, levels.guest))],
    ['SeenNamespace', spaces(ids.Namespace, raw('true'))],
    ['OwnNamespace', spaces(ids.Namespace, sql`n.owner_id = ${caller.id}`)],
  ]
  const rows = await db.rows(
    { kind: integer, id: integer },
    join(
      parts.map(([kind, ids]) => sql`select ${literal(foundKinds.indexOf(kind))} as kind, f.id from (${ids}) as f`),
      ' union all ',
    ),
  )
  const found = new Set(rows.map(({ kind, id }) => `${foundKinds[kind]} ${id}`))
  return (kind, id) => found.has(`${kind} ${id}`)
}

/** The current end of the log: a later reader gets what is committed from now on. */
export const endOfLog = async (db: Db): Promise<string> =>
  (await db.row({ txid: text }, sql`select event_position(pg_snapshot_xmin(pg_current_snapshot()))::text as txid`))!
    .txid
