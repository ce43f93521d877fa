import type { Tx } from '../../../db/db.ts'
import { sql } from '../../../db/sql.ts'

/**
 * Makes uploads of a project, by the secrets of their URLs, available under the same URLs of another project. The bytes are shared.
 */
export const copyUploads = (tx: Tx, from: number, to: number, secrets: readonly string[]): Promise<number> =>
  tx.run(sql`
    with originals as (
      -- The lock keeps the bytes from being collected.
      select u.secret, u.filename, u.digest, u.size, u.uploader_id, u.created_at
      from uploads u
      where u.project_id = ${from} and u.secret = any(${secrets}::text[])
      for key share
    )
    insert into uploads (project_id, secret, filename, digest, size, uploader_id, created_at)
    select ${to}, o.secret, o.filename, o.digest, o.size, o.uploader_id, o.created_at
    from originals o
    on conflict (project_id, secret) do nothing
  `)
