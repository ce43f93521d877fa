import type { Digest } from '../../../blobs/blob-store.ts'
import type { Db } from '../../../db/db.ts'
import { textOf } from '../../../db/row.ts'
import { join, type Sql, sql } from '../../../db/sql.ts'
import { digestsOfAvatars } from '../../namespaces/index.ts'
import { digestsOfUploads } from '../../projects/index.ts'
import { digestsOfLargeFiles } from '../../pushes/index.ts'

/**
 * Every reference to a blob: each function selects the referenced ones among the given digests. An area that stores
 * blobs adds its own here; otherwise they are collected.
 */
const references: readonly ((digests: readonly Digest[]) => Sql)[] = [
  digestsOfAvatars,
  digestsOfLargeFiles,
  digestsOfUploads,
]

/** The digests that no row references. */
export async function unreferenced(db: Db, digests: readonly Digest[]): Promise<Digest[]> {
  const named = join(
    references.map((select) => select(digests)),
    ' union all ',
  )
  const rows = await db.rows(
    { digest: textOf<Digest>() },
    sql`select digest from unnest(${digests}::text[]) as stored (digest) except (${named})`,
  )
  return rows.map(({ digest }) => digest)
}
