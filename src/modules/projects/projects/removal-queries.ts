import { deleteSome } from '../../../db/batches.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, type RowOf, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import type { Located } from '../repositories/location.ts'
import { locatedRow } from '../repositories/location.ts'
import { hiding } from '../topics/count.ts'
import type { LargeTable } from './large-table-queries.ts'

const deletingRow = { namespace_id: integer, visibility: integer, full_path: text }
type DeletingRow = RowOf<typeof deletingRow>

/** Hides a project; a job deletes it. Returns where it was; undefined if it is hidden already. */
export const markDeleting = (tx: Tx, id: number): Promise<DeletingRow | undefined> =>
  hiding(tx, sql`p.id = ${id}`, () =>
    tx.row(
      deletingRow,
      sql`
        update projects
        set deleting = true, updated_at = now()
        where id = ${id} and not deleting
        returning namespace_id, visibility, full_path
      `,
    ),
  )

/** As `markDeleting`, if the project is still marked for deletion since at least `days` ago; otherwise `undefined`. */
export const markDueDeleting = (tx: Tx, id: number, days: number): Promise<DeletingRow | undefined> =>
  hiding(tx, sql`p.id = ${id}`, () =>
    tx.row(
      deletingRow,
      sql`
        update projects
        set deleting = true, updated_at = now()
        where id = ${id} and not deleting and marked_for_deletion_on <= current_date - ${days}::integer
        returning namespace_id, visibility, full_path
      `,
    ),
  )

/**
 * Marks a project for deletion and archives it. False if it was marked before, and that date stays; undefined if it is
 * being deleted.
 */
export const markForDeletion = async (tx: Tx, id: number): Promise<boolean | undefined> =>
  (
    await tx.row(
      { newly: boolean },
      sql`
        update projects p
        set archived = true, marked_for_deletion_on = coalesce(held.marked_on, current_date), updated_at = now()
        from (
          select id, marked_for_deletion_on as marked_on
          from projects
          where id = ${id}
            and not deleting
            -- Not stronger than the lock of an update: an insert of an issue, which then waits for us, must not hold it up.
          for no key update
        ) as held
        where p.id = held.id
        returning held.marked_on is null as newly
      `,
    )
  )?.newly

/** A project that is being deleted. */
export const findDeleting = (db: Db, id: number): Promise<Located | undefined> =>
  db.row(locatedRow, sql`select id, repository_storage, repository_key from projects where id = ${id} and deleting`)

/** Deletes at most `size` rows of the project with what belongs to them; returns their number. */
export const deleteSomeOf = (
  db: Db,
  { table, rowsOf }: Pick<LargeTable, 'table' | 'rowsOf'>,
  projectId: number,
  size: number,
): Promise<number> => db.run(deleteSome(table, rowsOf(projectId), size))

/** With what belongs to it in other tables than large ones. */
export async function deleteProjectRow(tx: Tx, id: number): Promise<void> {
  await tx.allowLongStatements()
  await tx.run(sql`delete from projects where id = ${id} and deleting`)
}

/** Projects marked for deletion at least `days` ago, at most 1,000. */
export async function dueForRemoval(db: Db, days: number): Promise<number[]> {
  const rows = await db.rows(
    { id: integer },
    sql`
      select id
      from projects
      where marked_for_deletion_on <= current_date - ${days}::integer and not deleting
      order by id
      limit 1000
    `,
  )
  return rows.map(({ id }) => id)
}

/** Projects that are being deleted, other than with a group; at most 1,000. */
export async function projectsBeingRemoved(db: Db): Promise<number[]> {
  const rows = await db.rows(
    { id: integer },
    sql`
      select p.id
      from projects p join namespaces n on n.id = p.namespace_id
      where p.deleting and not n.deleting
      order by p.id
      limit 1000
    `,
  )
  return rows.map(({ id }) => id)
}
