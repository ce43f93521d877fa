import type { Tx } from '../../../db/db.ts'
import { sql } from '../../../db/sql.ts'
import type { ProjectOrGroupHolder } from './holder.ts'

/**
 * Keeps a project or group below the groups that are above it until the transaction ends: a transfer, which replaces what it may no longer
 * use of them, waits. Call it before it is read what may be used (`reaching`), and before rows are locked.
 */
export async function holdPlace(tx: Tx, { of, id }: ProjectOrGroupHolder): Promise<void> {
  if (of === 'group') {
    await tx.run(sql`select from namespaces where id = ${id} for key share`)
    return
  }
  // None if a transfer has moved the project meanwhile.
  while ((await lockWithNamespace(tx, id)) === 0)
    if (!(await tx.exists(sql`select from projects where id = ${id}`))) return
}

/** Locks the namespace first, as transfers do. */
const lockWithNamespace = (tx: Tx, projectId: number): Promise<number> =>
  tx.run(sql`
    with around as materialized (
      select n.id
      from projects p join namespaces n on n.id = p.namespace_id
      where p.id = ${projectId}
      for key share of n
    )
    select
    from around join projects p on p.id = ${projectId} and p.namespace_id = around.id
    for key share of p
  `)
