import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, json, nullable, type RowOf, text, timestamp } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import type { Timestamp } from '../../../db/types.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import { type LinkRow, linksJson } from './link-queries.ts'

export const releaseRow = {
  id: integer,
  tag: text,
  /** Null means the name of the tag. */
  name: nullable(text),
  description: text,
  created_at: timestamp,
  released_at: timestamp,
  /** The release date is in the future. */
  upcoming: boolean,
  /** Null if the account is gone. */
  author: nullable(json<UserReferenceRow>()),
  /** Newest first. */
  links: json<LinkRow[]>(),
}
export type ReleaseRow = RowOf<typeof releaseRow>

/** What records of tags have of a release. */
const notesRow = { tag: releaseRow.tag, description: releaseRow.description }
export type NotesRow = RowOf<typeof notesRow>

export const releaseOrders = ['released_at', 'created_at'] as const
export type ReleaseOrder = { readonly by: (typeof releaseOrders)[number]; readonly direction: 'asc' | 'desc' }

/** Columns of a row with the alias `r`, with its author `u`. */
const columns = sql`
  r.id, r.tag, r.name, r.description, r.created_at, r.released_at, r.released_at > now() as upcoming,
  case when u.id is not null then ${userReferenceJson('u')} end as author, ${linksJson(raw('r.id'))} as links
`

const withAuthor = raw('left join users u on u.id = r.author_id')

const orderOf: Record<ReleaseOrder['by'], Sql> = { released_at: raw('r.released_at'), created_at: raw('r.created_at') }

export const releasesOf = (projectId: number, { by, direction }: ReleaseOrder): List => ({
  type: 'Release',
  select: sql`select ${columns} from releases r ${withAuthor}`,
  from: raw('from releases r'),
  key: raw('r.id'),
  where: [sql`r.project_id = ${projectId}`],
  order: [
    { by: orderOf[by], direction },
    { by: raw('r.id'), direction },
  ],
})

export const findRelease = (db: Db | Tx, projectId: number, tag: string): Promise<ReleaseRow | undefined> =>
  db.row(
    releaseRow,
    sql`select ${columns} from releases r ${withAuthor} where r.project_id = ${projectId} and r.tag = ${tag}`,
  )

/** Release notes of the given tags; tags without a release are left out. One statement. */
export const findNotes = (db: Db, projectId: number, tags: readonly string[]): Promise<NotesRow[]> =>
  db.rows(
    notesRow,
    sql`select tag, description from releases where project_id = ${projectId} and tag = any(${tags}::text[])`,
  )

/** The id of the release of a tag; undefined if it has none. */
export const findReleaseId = async (db: Db, projectId: number, tag: string): Promise<number | undefined> =>
  (await db.row({ id: integer }, sql`select id from releases where project_id = ${projectId} and tag = ${tag}`))?.id

/** The latest release whose date has passed. */
export const findLatestRelease = (db: Db, projectId: number): Promise<ReleaseRow | undefined> =>
  db.row(
    releaseRow,
    sql`
      select ${columns}
      from releases r ${withAuthor}
      where r.project_id = ${projectId} and r.released_at <= now()
      order by r.released_at desc, r.id desc
      limit 1
    `,
  )

/** Id of a release, whose row is locked until the transaction ends. Throws if the caller has lost the permission meanwhile. */
export async function lockRelease(tx: Tx, projectId: number, tag: string): Promise<number | undefined> {
  const held = await tx.row(
    { id: integer },
    sql`select id from releases where project_id = ${projectId} and tag = ${tag} for no key update`,
  )
  await tx.requirePermission?.()
  return held?.id
}

export type ReleaseValues = {
  readonly name: string | null
  readonly description: string
  readonly releasedAt: Date | Timestamp
}

/** Returns its id; undefined if the tag has a release already. */
export const insertRelease = async (
  tx: Tx,
  { projectId, tag, authorId }: { projectId: number; tag: string; authorId: number },
  { name, description, releasedAt }: Omit<ReleaseValues, 'releasedAt'> & { releasedAt: Date | undefined },
): Promise<number | undefined> =>
  (
    await tx.row(
      { id: integer },
      sql`
        insert into releases (project_id, tag, author_id, name, description, released_at)
        values (
          ${projectId}, ${tag}, ${authorId}, ${name}, ${description},
          coalesce(${releasedAt ?? null}::timestamptz, now())
        )
        on conflict (project_id, tag) do nothing
        returning id
      `,
    )
  )?.id

/** Absent attributes stay. */
export const updateRelease = (
  tx: Tx,
  id: number,
  { name, description, releasedAt }: { [K in keyof ReleaseValues]?: ReleaseValues[K] | undefined },
): Promise<number> =>
  tx.run(sql`
    update releases
    set name = case when ${name !== undefined} then ${name ?? null} else name end,
      description = coalesce(${description ?? null}, description),
      released_at = coalesce(${releasedAt ?? null}::timestamptz, released_at), updated_at = now()
    where id = ${id}
  `)

const deletedReleaseRow = {
  release_id: integer,
  name: nullable(text),
  description: text,
  created_at: timestamp,
  released_at: timestamp,
  links: json<readonly LinkRow[]>(),
}

/** What was deleted; undefined if another request was first. */
export const deleteRelease = (tx: Tx, id: number): Promise<RowOf<typeof deletedReleaseRow> | undefined> =>
  tx.row(
    deletedReleaseRow,
    sql`
      delete from releases r
      where r.id = ${id}
      returning r.id as release_id, r.name, r.description, r.created_at, r.released_at,
        ${linksJson(raw('r.id'))} as links
    `,
  )
