import type { Db, Tx } from '../../../db/db.ts'
import { type RowOf, text } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import type { Holder } from '../holders/holder.ts'
import { heldBy, holderIds } from '../holders/queries.ts'

export const customAttributeRow = {
  key: text,
  value: text,
}
export type CustomAttributeRow = RowOf<typeof customAttributeRow>

/** Oldest first. */
export const customAttributesOf = (db: Db, holder: Holder): Promise<CustomAttributeRow[]> =>
  db.rows(
    customAttributeRow,
    sql`select a.key, a.value from custom_attributes a where ${heldBy('a', holder)} order by a.id`,
  )

export const findCustomAttribute = (db: Db, holder: Holder, key: string): Promise<CustomAttributeRow | undefined> =>
  db.row(
    customAttributeRow,
    sql`select a.key, a.value from custom_attributes a where ${heldBy('a', holder)} and a.key = ${key}`,
  )

const columns: Readonly<Record<Holder['of'], Sql>> = {
  project: raw('project_id'),
  group: raw('namespace_id'),
  user: raw('user_id'),
  instance: raw('id'),
}

/** Creates or replaces the value of a key. False if it is as it was. */
export async function saveCustomAttribute(
  tx: Tx,
  holder: Holder,
  { key, value }: CustomAttributeRow,
): Promise<boolean> {
  const { projectId, namespaceId, userId } = holderIds(holder)
  const column = columns[holder.of]
  const saved = await tx.run(sql`
    insert into custom_attributes as a (project_id, namespace_id, user_id, key, value)
    values (${projectId}, ${namespaceId}, ${userId}, ${key}, ${value})
    on conflict (${column}, key)
      where ${column} is not null do update set value = excluded.value where a.value <> excluded.value
  `)
  return saved > 0
}

/** False if there is none with this key. */
export const deleteCustomAttribute = async (tx: Tx, holder: Holder, key: string): Promise<boolean> =>
  (await tx.run(sql`delete from custom_attributes a where ${heldBy('a', holder)} and a.key = ${key}`)) > 0
