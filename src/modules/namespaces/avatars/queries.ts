import type { Digest } from '../../../blobs/blob-store.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { notNull, text, textOf } from '../../../db/row.ts'
import { literal, raw, type Sql, sql } from '../../../db/sql.ts'

/** Kind of record that has an avatar. Avatars of groups are stored with their namespaces. */
export type AvatarOwner = 'user' | 'group' | 'project' | 'topic'

const tables: Readonly<Record<AvatarOwner, Sql>> = {
  user: raw('users'),
  group: raw('namespaces'),
  project: raw('projects'),
  topic: raw('topics'),
}

/** Null removes the avatar. False if it is as it was. */
export const saveAvatar = async (
  tx: Tx,
  owner: AvatarOwner,
  id: number,
  avatar: { filename: string; digest: Digest } | null,
): Promise<boolean> => {
  const { filename = null, digest = null } = avatar ?? {}
  const saved = await tx.run(sql`
    update ${tables[owner]}
    set avatar = ${filename}, avatar_digest = ${digest}, updated_at = now()
    where id = ${id} and (avatar, avatar_digest) is distinct from (${filename}, ${digest})
  `)
  return saved > 0
}

/** The blob of an avatar by its owner and file name. */
export const findAvatar = (
  db: Db,
  owner: AvatarOwner,
  id: number,
  filename: string,
): Promise<{ avatar_digest: Digest } | undefined> =>
  db.row(
    { avatar_digest: notNull(textOf<Digest>()) },
    sql`
      select avatar_digest from ${tables[owner]} where id = ${id} and avatar = ${filename} and avatar_digest is not null
    `,
  )

/** The current avatar of a record. */
export const findOwnedAvatar = (
  db: Db,
  owner: AvatarOwner,
  id: number,
): Promise<{ filename: string; digest: Digest } | undefined> =>
  db.row(
    { filename: notNull(text), digest: notNull(textOf<Digest>()) },
    sql`
      select avatar as filename, avatar_digest as digest
      from ${tables[owner]}
      where id = ${id} and avatar_digest is not null
    `,
  )

const picturesOfAppearance = raw(
  `select name, digest from appearance, lateral (values ('logo', logo_digest), ('header logo', header_logo_digest), ('favicon', favicon_digest)) as p (name, digest)`,
)

/** All avatars with their owner (`user 7`), ordered by owner, starting after `after`. */
export const storedAvatars = (db: Db, after: string, limit: number): Promise<{ owner: string; digest: Digest }[]> =>
  db.rows(
    { owner: text, digest: notNull(textOf<Digest>()) },
    sql`
      select owner, digest
      from (
        select 'user ' || id as owner, avatar_digest as digest from users where avatar_digest is not null
        union all select kind || ' namespace ' || id, avatar_digest from namespaces where avatar_digest is not null
        union all select 'project ' || id, avatar_digest from projects where avatar_digest is not null
        union all select 'topic ' || id, avatar_digest from topics where avatar_digest is not null
        union all select 'appearance ' || name, digest from (${picturesOfAppearance}) a where digest is not null
      ) as pictures
      where owner > ${after}
      order by owner
      limit ${literal(limit)}
    `,
  )

/** The given digests that belong to avatars, for blob collection. */
export const digestsOfAvatars = (digests: readonly Digest[]): Sql => sql`
  select avatar_digest from users where avatar_digest = any(${digests}::text[])
  union all select avatar_digest from namespaces where avatar_digest = any(${digests}::text[])
  union all select avatar_digest from projects where avatar_digest = any(${digests}::text[])
  union all select avatar_digest from topics where avatar_digest = any(${digests}::text[])
  union all select digest from (${picturesOfAppearance}) a where digest = any(${digests}::text[])
`
