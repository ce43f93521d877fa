import type { Db, Tx } from '../../../db/db.ts'
import { boolean, text } from '../../../db/row.ts'
import { literal, sql } from '../../../db/sql.ts'
import type { Located } from '../repositories/location.ts'
import { locatedRow } from '../repositories/location.ts'

/** False for an empty database and for versions without installation ids. */
export const knowsInstallations = async (db: Db): Promise<boolean> =>
  (await db.row({ known: boolean }, sql`select to_regclass('installation') is not null as known`))!.known

/** Undefined until the first start. */
export const findInstallationId = async (db: Db): Promise<string | undefined> =>
  (await db.row({ id: text }, sql`select id from installation`))?.id

/** Inserts or replaces the id. */
export const saveInstallationId = (tx: Tx, id: string): Promise<number> =>
  tx.run(sql`insert into installation (id) values (${id}) on conflict (is_only) do update set id = excluded.id`)

/** Whether there are projects, and whether a project has a repository with commits. */
export const findContent = async (db: Db): Promise<{ projects: boolean; commits: boolean }> =>
  (await db.row(
    { projects: boolean, commits: boolean },
    sql`
      select exists (select from projects) as projects,
        exists (select from projects where default_branch is not null) as commits
    `,
  ))!

/** Projects with an id above `after`, in order, including those that are being deleted. */
export const projectKeysAfter = (db: Db, after: number, limit: number): Promise<Located[]> =>
  db.rows(
    locatedRow,
    sql`
      select id, repository_storage, repository_key
      from projects
      where id > ${after}
      order by id
      limit ${literal(limit)}
    `,
  )

export const saveRepositoryKey = (tx: Tx, projectId: number, key: string): Promise<number> =>
  tx.run(sql`update projects set repository_key = ${key} where id = ${projectId}`)
