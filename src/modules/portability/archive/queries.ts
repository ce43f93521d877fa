import type { Digest } from '../../../blobs/blob-store.ts'
import type { Db } from '../../../db/db.ts'
import { integer, notNull, nullable, text, textOf } from '../../../db/row.ts'
import { literal, sql } from '../../../db/sql.ts'

type StoredArchive = {
  /** Such as `export 7 of project 3`. */
  name: string
  digest: Digest
  /** Null for an archive that waits for its import. */
  size: number | null
}

/** Archives of exports, and of imports that wait, in the order of their names, starting after `after`. */
export const storedArchives = (db: Db, after: string, limit: number): Promise<StoredArchive[]> =>
  db.rows(
    { name: notNull(text), digest: notNull(textOf<Digest>()), size: nullable(integer) },
    sql`
      select name, digest, size
      from (
        select 'export ' || id || ' of ' || coalesce('project ' || project_id, 'group ' || namespace_id) as name,
          digest, size
        from finished_exports
        union all
        select 'import into ' || coalesce('project ' || project_id, 'group ' || namespace_id), digest, null::bigint
        from archive_imports
        where digest is not null
      ) as archives
      where name > ${after}
      order by name
      limit ${literal(limit)}
    `,
  )
