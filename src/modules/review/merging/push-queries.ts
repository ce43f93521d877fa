import type { Db } from '../../../db/db.ts'
import { integer, nullable, type RowOf, textOf } from '../../../db/row.ts'
import { type Sql, sql } from '../../../db/sql.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { RefName } from '../../../git/format/ref-name.ts'

/** A push that moved a ref, among the last thousand of a project. */
export const moverRow = {
  push_id: integer,
  actor_id: nullable(integer),
  to: nullable(textOf<Oid>()),
}
export type Mover = RowOf<typeof moverRow>

const moversOf = (projectId: number, ref: RefName, condition: Sql): Sql => sql`
  select p.id as push_id, p.actor_id, c.new_oid as to
  from (
      select id, actor_id
      from pushes
      where project_id = ${projectId} and state = 'done'
      order by id desc
      limit 1000
    ) p
    join ref_changes c on c.push_id = p.id and c.ref = convert_to(${ref}, 'UTF8') and c.moved
  where ${condition}
  order by p.id desc
  limit 1
`

/** The last push that moved a ref. */
export const lastMover = (db: Db, projectId: number, ref: RefName): Promise<Mover | undefined> =>
  db.row(moverRow, moversOf(projectId, ref, sql`true`))

/** The last push that moved a ref to this commit. */
export const moverTo = (db: Db, projectId: number, ref: RefName, to: Oid): Promise<Mover | undefined> =>
  db.row(moverRow, moversOf(projectId, ref, sql`c.new_oid = ${to}`))

/** The last push that moved a ref before another push. */
export const moverBefore = (db: Db, projectId: number, ref: RefName, pushId: number): Promise<Mover | undefined> =>
  db.row(moverRow, moversOf(projectId, ref, sql`p.id < ${pushId}`))
