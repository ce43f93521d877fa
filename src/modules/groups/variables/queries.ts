import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, nullable, oneOf, type RowOf, text } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import type { Holder } from '../holders/holder.ts'
import { heldBy, holderIds } from '../holders/queries.ts'

export const variableAttributesRow = {
  variable_type: oneOf('env_var', 'file'),
  protected: boolean,
  masked: boolean,
  raw: boolean,
  environment_scope: text,
  description: nullable(text),
}
export type VariableAttributes = RowOf<typeof variableAttributesRow>

export const variableRow = {
  ...variableAttributesRow,
  id: integer,
  key: text,
  sealed_value: text,
  /** No response shows the value. It stays so. */
  hidden: boolean,
  project_id: nullable(integer),
  namespace_id: nullable(integer),
}
export type VariableRow = RowOf<typeof variableRow>

const columns = raw(
  'v.id, v.project_id, v.namespace_id, v.key, v.sealed_value, v.hidden, v.variable_type, v.protected, v.masked, v.raw, v.environment_scope, v.description',
)

export const variablesOf = (holder: Holder): List => ({
  type: 'Variable',
  select: sql`select ${columns} from variables v`,
  from: sql`from variables v`,
  where: [heldBy('v', holder)],
  order: [{ by: raw('v.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

/** Variables of a key, one for each environment scope; at most two, which is enough to detect ambiguity. */
const ofKey = (holder: Holder, key: string, scope: string | undefined): Sql => sql`
  select ${columns}
  from variables v
  where ${heldBy('v', holder)}
    and v.key = ${key}
    and (${scope ?? null}::text is null or v.environment_scope = ${scope ?? null})
  order by v.id
  limit 2
`

export const findVariables = (db: Db, holder: Holder, key: string, scope: string | undefined): Promise<VariableRow[]> =>
  db.rows(variableRow, ofKey(holder, key, scope))

export type NewVariable = VariableAttributes & { key: string; sealedValue: string; hidden: boolean }

export async function insertVariable(tx: Tx, holder: Holder, variable: NewVariable): Promise<VariableRow> {
  const { projectId, namespaceId } = holderIds(holder)
  return (await tx.row(
    variableRow,
    sql`
      insert into variables as v (
        project_id, namespace_id, key, sealed_value, hidden, variable_type, protected, masked, raw,
        environment_scope, description
      )
      values (
        ${projectId}, ${namespaceId}, ${variable.key}, ${variable.sealedValue}, ${variable.hidden},
        ${variable.variable_type}, ${variable.protected}, ${variable.masked}, ${variable.raw},
        ${variable.environment_scope}, ${variable.description}
      )
      returning ${columns}
    `,
  ))!
}

/** Undefined if it is gone. */
export const updateVariable = (
  tx: Tx,
  id: number,
  variable: VariableAttributes & { sealedValue: string },
): Promise<VariableRow | undefined> =>
  tx.row(
    variableRow,
    sql`
      update variables v
      set sealed_value = ${variable.sealedValue}, variable_type = ${variable.variable_type},
        protected = ${variable.protected}, masked = ${variable.masked}, raw = ${variable.raw},
        environment_scope = ${variable.environment_scope}, description = ${variable.description}, updated_at = now()
      where v.id = ${id}
      returning ${columns}
    `,
  )

/** As `findVariables`, and locks the rows until the transaction ends. */
export const lockVariables = (tx: Tx, holder: Holder, key: string, scope: string | undefined): Promise<VariableRow[]> =>
  tx.rows(variableRow, sql`${ofKey(holder, key, scope)} for update`)

export const deleteVariable = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`delete from variables where id = ${id}`)
