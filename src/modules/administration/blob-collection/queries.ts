import type { Digest } from '../../../blobs/blob-store.ts'
import type { Db } from '../../../db/db.ts'
import { textOf } from '../../../db/row.ts'
import { join, type Sql, sql } from '../../../db/sql.ts'
import { digestsOfAvatars } from '../../namespaces/index.ts'
import { digestsOfUploads } from '../../projects/index.ts'
import { digestsOfLargeFiles } from '../../pushes/index.ts'

/** Layers and configurations of images. Written here, because the module that owns the table comes later. */
const digestsOfContainerBlobs = (digests: readonly Digest[]): Sql => sql`
  select digest from container_blobs where digest = any(${digests}::text[])
  union all select stored_as from container_blobs where stored_as = any(${digests}::text[])
`

/** Archives of exports and of imports that wait. Written here for the same reason. */
const digestsOfArchives = (digests: readonly Digest[]): Sql => sql`
  select digest from finished_exports where digest = any(${digests}::text[])
  union all select digest from archive_imports where digest = any(${digests}::text[])
`

/**
 * Every reference to a blob: each function selects the referenced ones among the given digests. A module that stores
 * blobs adds its own here; otherwise they are collected.
 */
const references: readonly ((digests: readonly Digest[]) => Sql)[] = [
  digestsOfAvatars,
  digestsOfLargeFiles,
  digestsOfUploads,
  digestsOfContainerBlobs,
  digestsOfArchives,
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
