import type { Caller } from '../../../access/actor.ts'
import type { Db } from '../../../db/db.ts'
import { integer, listOf, text } from '../../../db/row.ts'
import { type Sql, sql } from '../../../db/sql.ts'
import { type NoteableType, readableRow, tableOf } from '../../discussion/index.ts'
import { readableCode, visibleProjects } from '../../projects/index.ts'

export type TargetIds = {
  readonly projects: readonly number[]
  readonly repositories: readonly number[]
  readonly issues: readonly number[]
  readonly mergeRequests: readonly number[]
}

const seen = (caller: Caller): Sql => sql`not p.deleting and ${visibleProjects(caller)}`

const noteables = (caller: Caller, type: NoteableType, ids: readonly number[]): Sql => sql`
  array(
    select m.id
    from ${tableOf(type)} m join projects p on p.id = m.project_id
    where m.id = any(${ids}::bigint[]) and ${seen(caller)} and ${readableRow(type, caller)}
  )
`

/** Those of the targets that the caller may read now. One statement. */
export const readableTargets = async (db: Db, caller: Caller, ids: TargetIds): Promise<TargetIds> => {
  const found = (await db.row(
    {
      projects: listOf(integer),
      repositories: listOf(integer),
      issues: listOf(integer),
      merge_requests: listOf(integer),
    },
    sql`
      select array(
          select p.id from projects p where p.id = any(${ids.projects}::bigint[]) and ${seen(caller)}
        ) as projects,
        array(
          select p.id
          from projects p
          where p.id = any(${ids.repositories}::bigint[]) and ${seen(caller)} and ${readableCode(caller)}
        ) as repositories,
        ${noteables(caller, 'Issue', ids.issues)} as issues,
        ${noteables(caller, 'MergeRequest', ids.mergeRequests)} as merge_requests
    `,
  ))!
  return { ...found, mergeRequests: found.merge_requests }
}

/** The current end of the log: a later reader gets what is committed from now on. */
export const endOfLog = async (db: Db): Promise<string> =>
  (await db.row({ txid: text }, sql`select event_position(pg_snapshot_xmin(pg_current_snapshot()))::text as txid`))!
    .txid
