import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, oneOf, type RowOf, text } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'

export const linkTypes = ['other', 'runbook', 'image', 'package'] as const

export const linkValuesRow = {
  name: text,
  url: text,
  link_type: oneOf(...linkTypes),
}
export type LinkValues = RowOf<typeof linkValuesRow>

export const linkRow = { ...linkValuesRow, id: integer }
export type LinkRow = RowOf<typeof linkRow>

const columns = raw('l.id, l.name, l.url, l.link_type')

/** All links of a release as one JSON value, newest first. */
export const linksJson = (releaseId: Sql): Sql => sql`
  (
    select coalesce(
      json_agg(
        json_build_object('id', l.id, 'name', l.name, 'url', l.url, 'link_type', l.link_type) order by l.id desc
      ),
      '[]'
    )
    from release_links l
    where l.release_id = ${releaseId}
  )
`

export const linksOf = (releaseId: number): List => ({
  type: 'ReleaseLink',
  select: sql`select ${columns} from release_links l`,
  from: raw('from release_links l'),
  where: [sql`l.release_id = ${releaseId}`],
  order: [{ by: raw('l.id'), direction: 'desc' }],
  keyset: { direction: 'desc' },
})

export const findLinks = (tx: Tx, releaseId: number): Promise<LinkRow[]> =>
  tx.rows(linkRow, sql`select ${columns} from release_links l where l.release_id = ${releaseId}`)

export const findLink = (db: Db | Tx, releaseId: number, id: number): Promise<LinkRow | undefined> =>
  db.row(linkRow, sql`select ${columns} from release_links l where l.release_id = ${releaseId} and l.id = ${id}`)

/** In the order given. Name and URL must be unique in the release. */
export const insertLinks = (tx: Tx, releaseId: number, links: readonly LinkValues[]): Promise<LinkRow[]> =>
  tx.rows(
    linkRow,
    sql`
      insert into release_links as l (release_id, name, url, link_type)
      select ${releaseId}, name, url, link_type
      from unnest(
        ${links.map(({ name }) => name)}::text[], ${links.map(({ url }) => url)}::text[],
        ${links.map(({ link_type }) => link_type)}::text[]
      ) with ordinality as given (name, url, link_type, place)
      order by place
      returning ${columns}
    `,
  )

export const updateLink = async (tx: Tx, id: number, { name, url, link_type }: LinkValues): Promise<LinkRow> =>
  (await tx.row(
    linkRow,
    sql`
      update release_links l
      set name = ${name}, url = ${url}, link_type = ${link_type}, updated_at = now()
      where l.id = ${id}
      returning ${columns}
    `,
  ))!

export const deleteLink = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`delete from release_links where id = ${id}`)
