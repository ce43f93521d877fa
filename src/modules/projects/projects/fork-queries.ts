import type { Tx } from '../../../db/db.ts'
import { integer, notNull } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import { countingTopics } from '../topics/count.ts'
import { lockSourcesOf } from '../topics/count-queries.ts'

/**
 * Makes a new project the fork of another, with its picture and at most its visibility. The trigger `count_forks` counts it. False if
 * the source does not exist any more.
 */
export const becomeFork = (tx: Tx, projectId: number, sourceId: number): Promise<boolean> =>
  countingTopics(
    tx,
    sql`p.id = ${projectId}`,
    async () =>
      (await tx.run(sql`
        with source as (
          select id, visibility, avatar, avatar_digest
          from projects
          where id = ${sourceId} and not deleting
          for no key update
        )
        update projects p
        set forked_from_project_id = s.id, visibility = least(p.visibility, s.visibility), avatar = s.avatar,
          avatar_digest = s.avatar_digest
        from source s
        where p.id = ${projectId}
      `)) > 0,
  )

/** Makes an existing project the fork of another. False when it is one already. */
export const linkFork = async (tx: Tx, projectId: number, sourceId: number): Promise<boolean> =>
  (await tx.run(sql`
    update projects
    set forked_from_project_id = ${sourceId}, updated_at = now()
    where id = ${projectId} and forked_from_project_id is null and not deleting
  `)) > 0

/** The source that a project is a fork of no more; undefined when it was none. */
export async function unlinkFork(tx: Tx, projectId: number): Promise<number | undefined> {
  await lockSourcesOf(tx, sql`p.id = ${projectId}`)
  return (
    await tx.row(
      { source_id: notNull(integer) },
      sql`
        with held as (
          select id, forked_from_project_id as source_id
          from projects
          where id = ${projectId} and forked_from_project_id is not null and not deleting
          for update
        )
        update projects p
        set forked_from_project_id = null, updated_at = now()
        from held
        where p.id = held.id
        returning held.source_id
      `,
    )
  )?.source_id
}
