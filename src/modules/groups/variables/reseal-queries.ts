import type { Tx } from '../../../db/db.ts'
import { resealRows } from '../../../db/reseal.ts'
import { integer, nullable, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import type { Secrets } from '../../../kernel/secrets.ts'
import { purposeOf } from './sealing.ts'

const holderRow = { key: text, project_id: nullable(integer), namespace_id: nullable(integer) }

/** Encrypts the values of variables with the current key. Returns their number. */
export const resealVariables = (tx: Tx, secrets: Secrets): Promise<number> =>
  resealRows(tx, { table: 'variables', id: 'id', column: 'sealed_value' }, async (sealed, id) => {
    const variable = (await tx.row(
      holderRow,
      sql`select key, project_id, namespace_id from variables where id = ${id}`,
    ))!
    return secrets.reseal(sealed, purposeOf(variable))
  })
