import type { Tx } from '../../../db/db.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import type { Reaction } from '../../../events/reaction.ts'
import { within } from '../../namespaces/index.ts'
import { hiding } from '../topics/count.ts'
import { lockProjectsWhere, lockSourcesOf } from '../topics/count-queries.ts'
import { type LoweredProject, lowering } from './lowered-queries.ts'

/** Puts a project into another namespace. Its route is claimed apart. Returns the projects whose visibility this lowers. */
export const moveProject = (
  tx: Tx,
  id: number,
  to: { namespaceId: number; fullPath: string; visibility: number },
): Promise<LoweredProject[]> =>
  lowering(
    tx,
    sql`p.id = ${id}`,
    () =>
      tx.run(sql`
        update projects
        set namespace_id = ${to.namespaceId}, full_path = ${to.fullPath}, visibility = ${to.visibility},
          updated_at = now()
        where id = ${id}
      `),
    to.visibility,
  )

/** Limits the visibility of projects. `which` is a condition on their namespace `d`. Returns the projects whose visibility this lowers. */
export const limitProjectVisibility = (tx: Tx, which: Sql, visibility: number): Promise<LoweredProject[]> =>
  lowering(
    tx,
    sql`p.visibility > ${visibility} and ${which}`,
    (ids) =>
      tx.run(
        sql`
          update projects set visibility = ${visibility} where id = any(${ids}::bigint[]) and visibility > ${visibility}
        `,
      ),
    visibility,
  )

/** Locks projects, with the sources of forks, as the beginning of their deletion. `which` is a condition on projects `p` and their namespaces `d`. */
export async function lockToHide(tx: Tx, which: Sql): Promise<void> {
  await lockSourcesOf(tx, which)
  await lockProjectsWhere(tx, which)
}

/** Hides projects until a job removes them. `which` is a condition on their namespace `d`. */
export const markProjectsDeleting = (tx: Tx, which: Sql): Promise<number> =>
  hiding(tx, which, (ids) => tx.run(sql`update projects set deleting = true where id = any(${ids}::bigint[])`))

/** Renames projects with the namespace in which, or below which, they lie. */
export const followNamespace: Reaction<'namespace_renamed'> = (tx, { payload }) =>
  tx.run(sql`
    update projects p
    set full_path = d.full_path || '/' || p.path
    from namespaces renamed join namespaces d on ${within(raw('d.traversal_ids'), raw('renamed.traversal_ids'))}
    where renamed.id = ${payload.namespace_id} and d.id = p.namespace_id
  `)
