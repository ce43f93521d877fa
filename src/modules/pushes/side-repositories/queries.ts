import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, nullable, oneOf, type RowOf, text } from '../../../db/row.ts'
import { literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { type Housekeeping, type HousekeepingRow, housekeepingDone, housekeepingRow } from '../../projects/index.ts'

export type SideKindName = 'project_wiki' | 'group_wiki' | 'snippet'

/** What a side repository belongs to: a project, a group, or a snippet, by its id. */
export type SideHolder = { readonly kind: SideKindName; readonly id: number }

const holderColumn = { project_wiki: 'project_id', group_wiki: 'group_id', snippet: 'snippet_id' } as const

export const sideRepositoryRow = {
  id: integer,
  kind: oneOf<SideKindName>('project_wiki', 'group_wiki', 'snippet'),
  project_id: nullable(integer),
  group_id: nullable(integer),
  snippet_id: nullable(integer),
  repository_storage: text,
  repository_key: text,
  default_branch: nullable(text),
  size: integer,
  /** Always true: its place on disk is beside the repositories of projects. */
  side: boolean,
}
export type SideRepository = RowOf<typeof sideRepositoryRow>

const columns = raw(`
  s.id, s.kind, s.project_id, s.group_id, s.snippet_id, s.repository_storage, s.repository_key, s.default_branch, s.size,
  true as side
`)

const isHeldBy = ({ kind, id }: SideHolder): Sql => sql`${raw(`s.${holderColumn[kind]}`)} = ${id}`

const ofHolder = (holder: SideHolder): Sql => sql`select ${columns} from side_repositories s where ${isHeldBy(holder)}`

/** The repository of a holder; undefined before its first write. */
export const findSideRepository = (db: Db, holder: SideHolder): Promise<SideRepository | undefined> =>
  db.row(sideRepositoryRow, ofHolder(holder))

/** The repository of a holder, created if it has none. Concurrent calls get the same. */
export async function createSideRepository(tx: Db, holder: SideHolder): Promise<SideRepository> {
  const column = raw(holderColumn[holder.kind])
  await tx.run(sql`
    insert into side_repositories (kind, ${column})
    values (${holder.kind}, ${holder.id})
    on conflict (${column}) where ${column} is not null do nothing
  `)
  return (await tx.row(sideRepositoryRow, ofHolder(holder)))!
}

export const findSideRepositoryById = (db: Db, id: number): Promise<SideRepository | undefined> =>
  db.row(sideRepositoryRow, sql`select ${columns} from side_repositories s where s.id = ${id}`)

const hasHolder = raw('num_nonnulls(s.project_id, s.group_id, s.snippet_id) = 1')

/** False of a repository whose holder was deleted. */
export const isHeld = (db: Db, id: number): Promise<boolean> =>
  db.exists(sql`select from side_repositories s where s.id = ${id} and ${hasHolder}`)

/**
 * Locks a repository until the transaction ends, after its project, as deletions lock them. Undefined if its holder is
 * being deleted.
 */
export async function lockSideRepository(tx: Tx, id: number): Promise<SideRepository | undefined> {
  const [, row] = await Promise.all([
    tx.run(sql`
      select from projects where id = (select project_id from side_repositories where id = ${id}) for no key update
    `),
    tx.row(
      sideRepositoryRow,
      sql`select ${columns} from side_repositories s where s.id = ${id} and ${hasHolder} for update`,
    ),
  ])
  return row
}

/** Counts a push for housekeeping; a first branch becomes the default one. */
export const recordSidePush = (tx: Tx, id: number, firstBranch: string | undefined): Promise<number> =>
  tx.run(sql`
    update side_repositories
    set pushes = pushes + 1, default_branch = coalesce(default_branch, ${firstBranch ?? null}::text)
    where id = ${id}
  `)

export const saveSideSize = (db: Db, id: number, bytes: number): Promise<number> =>
  db.run(sql`update side_repositories set size = ${bytes} where id = ${id}`)

/** Pushes so far, and at the last run of each kind of housekeeping. */
export const findSideHousekeeping = (db: Db, id: number): Promise<HousekeepingRow | undefined> =>
  db.row(housekeepingRow, sql`select pushes, incremental_at, full_at, gc_at from side_repositories where id = ${id}`)

/** Records a run that covered the first `pushes`. */
export const saveSideHousekeeping = (db: Db, id: number, kind: Housekeeping, pushes: number): Promise<number> =>
  db.run(sql`update side_repositories set ${housekeepingDone(kind, pushes)} where id = ${id}`)

/** Repositories with an id above `after`, in order, without those whose holder was deleted. */
export const sideRepositoriesAfter = (db: Db, after: number, limit: number): Promise<SideRepository[]> =>
  db.rows(
    sideRepositoryRow,
    sql`
      select ${columns}
      from side_repositories s
      where s.id > ${after} and ${hasHolder}
      order by s.id
      limit ${literal(limit)}
    `,
  )

/** Repositories that were not checked for `days` days: never checked ones first, then the oldest check. */
export async function sideRepositoriesDueForCheck(db: Db, days: number, limit: number): Promise<number[]> {
  const rows = await db.rows(
    { id: integer },
    sql`
      select s.id
      from side_repositories s
      where ${hasHolder}
        and s.default_branch is not null
        and (
          coalesce(s.checked_at + make_interval(days => ${days}), s.created_at + interval '1 day') < now()
          or s.checked_at > now() + interval '1 day'
        )
      order by s.checked_at nulls first, s.id
      limit ${literal(limit)}
    `,
  )
  return rows.map(({ id }) => id)
}

export const saveSideCheck = (db: Db, id: number): Promise<number> =>
  db.run(sql`update side_repositories set checked_at = now() where id = ${id}`)

/** Repositories whose holder was deleted, at most `limit`. */
export const sideRepositoriesWithoutHolder = (db: Db, limit: number): Promise<SideRepository[]> =>
  db.rows(
    sideRepositoryRow,
    sql`
      select ${columns}
      from side_repositories s
      where s.project_id is null and s.group_id is null and s.snippet_id is null
      order by s.id
      limit ${literal(limit)}
    `,
  )

/** Imports end after this number of hours at the latest. */
const longestImport = 16

/**
 * Repositories without a holder that get none any more: what an import of a project or group fills waits for one until the import ends.
 * The tables of imports belong to later modules.
 */
export const abandonedSideRepositories = (db: Db, limit: number): Promise<SideRepository[]> =>
  db.rows(
    sideRepositoryRow,
    sql`
      select ${columns}
      from side_repositories s
      where s.project_id is null
        and s.group_id is null
        and s.snippet_id is null
        and not (
          s.default_branch is null
          and s.pushes = 0
          and s.created_at between now() - make_interval(
            hours => ${literal(longestImport)}
          ) and now() + interval '1 minute'
          and (exists (select from project_imports) or exists (select from archive_imports))
        )
      order by s.id
      limit ${literal(limit)}
    `,
  )

/** Deletes the row of a repository without holder. */
export const deleteSideRepository = (db: Db, id: number): Promise<number> =>
  db.run(sql`delete from side_repositories s where s.id = ${id} and not (${hasHolder})`)

/**
 * A row without holder, for a repository that an import fills before its holder exists. If it gets none, a job deletes both after the
 * import.
 */
export const insertUnheld = async (db: Db, kind: SideKindName): Promise<SideRepository> =>
  (await db.row(
    sideRepositoryRow,
    sql`with made as (insert into side_repositories (kind) values (${kind}) returning *) select ${columns} from made s`,
  ))!

/** Gives a repository its holder. False if the job that deletes those without one was faster. */
export const holdRepository = async (
  tx: Tx,
  id: number,
  holder: SideHolder,
  { defaultBranch, size }: { readonly defaultBranch: string | null; readonly size: number },
): Promise<boolean> =>
  (await tx.run(sql`
    update side_repositories s
    set ${raw(holderColumn[holder.kind])} = ${holder.id}, default_branch = ${defaultBranch}, size = ${size}
    where s.id = ${id} and s.kind = ${holder.kind} and not (${hasHolder})
  `)) > 0
