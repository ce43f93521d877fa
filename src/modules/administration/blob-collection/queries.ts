import type { Digest } from '../../../blobs/blob-store.ts'
import type { Db } from '../../../db/db.ts'
import { textOf } from '../../../db/row.ts'
import { join, type Sql, sql } from '../../../db/sql.ts'
import { digestsOfAvatars } from '../../namespaces/index.ts'
import { digestsOfUploads } from '../../projects/index.ts'
import { digestsOfLargeFiles } from '../../pushes/index.ts'

/**
 * Everything that rows call a blob: each selects, of the digests it is given, those it needs. An area that keeps blobs adds
 * its own here, or they are collected.
 */
const references: readonly ((digests: readonly Digest[]) => Sql)[] = [
  digestsOfAvatars,
  digestsOfLargeFiles,
  digestsOfUploads,
]

/** Those of the digests that no row names. */
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
