import { levels } from '../../../access/levels.ts'
import type { Db } from '../../../db/db.ts'
import { integer, type RowOf, text } from '../../../db/row.ts'
import { literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { asInGeneral } from './new-member-queries.ts'
import type { MemberSource } from './queries.ts'

/** A recipient of mails about a project or group, with the address. */
export const recipientRow = {
  id: integer,
  name: text,
  username: text,
  address: text,
}
export type Recipient = RowOf<typeof recipientRow>

/** A project or group as named in mails. */
export type Place = { readonly of: 'project' | 'group'; readonly id: number; full_name: string; full_path: string }

export async function findPlace(db: Db, source: MemberSource): Promise<Place> {
  if (source.of === 'group') {
    const row = await db.row(
      { full_name: text, full_path: text },
      sql`select full_name, full_path from namespaces where id = ${source.groupId}`,
    )
    return { of: 'group', id: source.groupId, ...row! }
  }
  const row = await db.row(
    { full_name: text, full_path: text },
    sql`
      select n.full_name || ' / ' || p.name as full_name, p.full_path
      from projects p join namespaces n on n.id = p.namespace_id
      where p.id = ${source.projectId}
    `,
  )
  return { of: 'project', id: source.projectId, ...row! }
}

/** Levels of notification_settings (0011_around_members.sql). */
const [disabled, participating] = [raw('0'), raw('1')]

/** The level that `u` set for the project, else for the nearest group above with a setting, else globally. */
const levelThere = (source: MemberSource): Sql => sql`
  coalesce(
    (
      select s.level
      from notification_settings s
      where s.user_id = u.id
        and s.level <> ${asInGeneral}
        and (
          s.project_id = ${source.of === 'project' ? source.projectId : null}
          or s.namespace_id = any(${source.ancestorIds}::bigint[])
        )
      order by s.project_id is null, array_position(${source.ancestorIds}::bigint[], s.namespace_id) desc
      limit 1
    ),
    (
      select s.level
      from notification_settings s
      where s.user_id = u.id and s.project_id is null and s.namespace_id is null
    ),
    ${participating}
  )
`

/** Notification address of `u`: the chosen one if it still belongs to the account, else the account's. */
export const mailAddress = raw(`coalesce(
  (select s.notification_email from notification_settings s
    join email_addresses a on a.user_id = s.user_id and a.address = lower(s.notification_email)
    where s.user_id = u.id and s.project_id is null and s.namespace_id is null), u.email)`)

/** `select … from users u where …` of active people who did not disable mails there. */
const wanting = (source: MemberSource): Sql => sql`
  select u.id, u.name, u.username, ${mailAddress} as address
  from users u
  where u.kind = 'human'
    and u.state = 'active'
    and ${levelThere(source)} <> ${disabled}
    and not exists (select from namespaces n where n.id = any(${source.ancestorIds}::bigint[]) and n.emails_disabled)
`

/** Undefined if the user disabled mails about it. */
export const findRecipient = (db: Db, source: MemberSource, userId: number): Promise<Recipient | undefined> =>
  db.row(recipientRow, sql`${wanting(source)} and u.id = ${userId}`)

/** Maximum recipients of a mail to those who manage members. */
const mostDeciders = 10

/** The access level of those who manage members. */
export const levelToDecide = ({ of }: MemberSource): number => (of === 'group' ? levels.owner : levels.maintainer)

/** Users who manage the members and did not disable mails, latest activity first. */
export const recipientsWhoDecide = (db: Db, source: MemberSource): Promise<Recipient[]> => {
  const level = literal(levelToDecide(source))
  const inGroup = sql`
    select a.user_id
    from group_access a
    where a.group_id = ${source.ancestorIds.at(-1) ?? null}::bigint
      and a.expires_on > current_date
      and a.level >= ${level}
  `
  const deciding =
    source.of === 'group'
      ? inGroup
      : sql`
        ${inGroup}
        union
        select a.user_id
        from project_access a
        where a.project_id = ${source.projectId} and a.expires_on > current_date and a.level >= ${level}
      `
  return db.rows(
    recipientRow,
    sql`
      ${wanting(source)}
      and u.id in (${deciding})
      order by u.last_activity_on desc nulls last, u.id
      limit ${literal(mostDeciders)}
    `,
  )
}
