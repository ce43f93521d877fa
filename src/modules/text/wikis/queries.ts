import type { Tx } from '../../../db/db.ts'
import { integer } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

/** The id of the page with a slug; a page that has no row gets one. */
export const pageId = async (tx: Tx, sideRepositoryId: number, slug: string): Promise<number> =>
  (await tx.row(
    { id: integer },
    sql`
      insert into wiki_pages as w (side_repository_id, slug)
      values (${sideRepositoryId}, ${slug})
      on conflict (side_repository_id, md5(slug)) do update set slug = excluded.slug
      returning w.id
    `,
  ))!.id

/** Gives a page another slug. */
export const renamePage = async (tx: Tx, id: number, slug: string): Promise<void> => {
  await tx.run(sql`
    delete from wiki_pages
    where side_repository_id = (select side_repository_id from wiki_pages where id = ${id})
      and md5(slug) = md5(${slug})
      and id <> ${id}
  `)
  await tx.run(sql`update wiki_pages set slug = ${slug} where id = ${id}`)
}

export const deletePage = (tx: Tx, id: number): Promise<number> => tx.run(sql`delete from wiki_pages where id = ${id}`)
