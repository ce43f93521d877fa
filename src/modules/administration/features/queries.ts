import type { Db, Tx } from '../../../db/db.ts'
import { json, type RowOf, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import type { Gates } from './gates.ts'

export const featureRow = {
  name: text,
  gates: json<Gates>(),
}
export type FeatureRow = RowOf<typeof featureRow>

export const allFeatures = (db: Db): Promise<FeatureRow[]> =>
  db.rows(featureRow, sql`select name, gates from feature_flags order by name`)

/** Creates the switch if it is absent, and locks it until the transaction ends. */
export const lockFeature = async (tx: Tx, name: string): Promise<FeatureRow> =>
  (await tx.row(
    featureRow,
    sql`
      insert into feature_flags (name)
      values (${name})
      on conflict (name) do update set updated_at = now()
      returning name, gates
    `,
  ))!

export const saveFeature = (tx: Tx, { name, gates }: FeatureRow): Promise<number> =>
  tx.run(sql`update feature_flags set gates = ${JSON.stringify(gates)}::jsonb, updated_at = now() where name = ${name}`)

export const deleteFeature = (tx: Tx, name: string): Promise<number> =>
  tx.run(sql`delete from feature_flags where name = ${name}`)
