import type { Caller } from '../../../access/actor.ts'
import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, nullable, oneOf, type RowOf, text } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { within } from '../../namespaces/index.ts'
import { visibleProjects } from '../../projects/index.ts'
import type { Holder } from '../holders/holder.ts'
import { heldBy, holderIds, reaching } from '../holders/queries.ts'

export const badgeRow = {
  id: integer,
  name: nullable(text),
  link_url: text,
  image_url: text,
  kind: oneOf('project', 'group'),
}
export type BadgeRow = RowOf<typeof badgeRow>

const columns = raw(
  `b.id, b.name, b.link_url, b.image_url, case when b.project_id is null then 'group' else 'project' end as kind`,
)

/** Badges of a project with those of its groups, or of a group alone. */
const shownWith = (holder: Holder): Sql =>
  holder.of === 'project' ? reaching('b', sql`${holder.id}`) : heldBy('b', holder)

export const badgesOf = (holder: Holder, name: string | undefined): List => ({
  type: 'Badge',
  select: sql`select ${columns} from badges b`,
  from: sql`from badges b`,
  where: [shownWith(holder), ...(name === undefined ? [] : [sql`b.name = ${name}`])],
  order: [{ by: raw('b.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

export const findBadge = (db: Db, holder: Holder, id: number): Promise<BadgeRow | undefined> =>
  db.row(badgeRow, sql`select ${columns} from badges b where b.id = ${id} and ${shownWith(holder)}`)

/** A badge of the holder itself, locked until the transaction ends. */
export const lockBadge = (tx: Tx, holder: Holder, id: number): Promise<BadgeRow | undefined> =>
  tx.row(badgeRow, sql`select ${columns} from badges b where b.id = ${id} and ${heldBy('b', holder)} for no key update`)

export type BadgeValues = { name: string | null; link_url: string; image_url: string }

export async function insertBadge(
  tx: Tx,
  holder: Holder,
  { name, link_url, image_url }: BadgeValues,
): Promise<BadgeRow> {
  const { projectId, namespaceId } = holderIds(holder)
  return (await tx.row(
    badgeRow,
    sql`
      insert into badges as b (project_id, namespace_id, name, link_url, image_url)
      values (${projectId}, ${namespaceId}, ${name}, ${link_url}, ${image_url})
      returning ${columns}
    `,
  ))!
}

/** Undefined if the badge is gone or does not belong to this holder itself. */
export const updateBadge = (
  tx: Tx,
  holder: Holder,
  id: number,
  { name, link_url, image_url }: BadgeValues,
): Promise<BadgeRow | undefined> =>
  tx.row(
    badgeRow,
    sql`
      update badges b
      set name = ${name}, link_url = ${link_url}, image_url = ${image_url}, updated_at = now()
      where b.id = ${id} and ${heldBy('b', holder)}
      returning ${columns}
    `,
  )

export const deleteBadge = async (tx: Tx, holder: Holder, id: number): Promise<boolean> =>
  (await tx.run(sql`delete from badges b where b.id = ${id} and ${heldBy('b', holder)}`)) > 0

/** The oldest project below a group that the caller can see. */
export const firstProjectIn = async (db: Db, caller: Caller, groupId: number): Promise<number | undefined> =>
  (
    await db.row(
      { id: integer },
      sql`
        select p.id
        from namespaces g
          join namespaces n on ${within(raw('n.traversal_ids'), raw('g.traversal_ids'))}
          join projects p on p.namespace_id = n.id
        where g.id = ${groupId} and not p.deleting and ${visibleProjects(caller)}
        order by p.created_at, p.id
        limit 1
      `,
    )
  )?.id
