import { levels } from '../../../access/levels.ts'
import type { Db } from '../../../db/db.ts'
import { integer, type RowOf, text } from '../../../db/row.ts'
import { literal, raw, type Sql, sql } from '../../../db/sql.ts'
import type { MemberSource } from './queries.ts'

/** Somebody who wants mail about a project or group, and where to. */
export const recipientRow = {
  id: integer,
  name: text,
  username: text,
  address: text,
}
export type Recipient = RowOf<typeof recipientRow>

/** A project or group as mails name it. */
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
    select n.full_name || ' / ' || p.name as full_name, p.full_path from projects p join namespaces n on n.id = p.namespace_id
    where p.id = ${source.projectId}`,
  )
  return { of: 'project', id: source.projectId, ...row! }
}

/** Levels of notification_settings (0011_around_members.sql). */
const [disabled, participating, asInGeneral] = [raw('0'), raw('1'), raw('3')]

/** What `u` set for the project, for the nearest group around that he set something for, or else in general. */
const levelThere = (source: MemberSource): Sql => sql`coalesce(
  (select s.level from notification_settings s where s.user_id = u.id and s.level <> ${asInGeneral}
    and (s.project_id = ${source.of === 'project' ? source.projectId : null} or s.namespace_id = any(${source.ancestorIds}::bigint[]))
    order by s.project_id is null, array_position(${source.ancestorIds}::bigint[], s.namespace_id) desc limit 1),
  (select s.level from notification_settings s where s.user_id = u.id and s.project_id is null and s.namespace_id is null),
  ${participating})`

/** Where `u` wants mails: to an address of his that he chose, else to that of the account. */
export const mailAddress = raw(`coalesce(
  (select s.notification_email from notification_settings s
    join email_addresses a on a.user_id = s.user_id and a.address = lower(s.notification_email)
    where s.user_id = u.id and s.project_id is null and s.namespace_id is null), u.email)`)

/** `select … from users u where …` of people who can act and did not switch mails off there. */
const wanting = (source: MemberSource): Sql => sql`
  select u.id, u.name, u.username, ${mailAddress} as address from users u
  where u.kind = 'human' and u.state = 'active' and ${levelThere(source)} <> ${disabled}
    and not exists (select from namespaces n where n.id = any(${source.ancestorIds}::bigint[]) and n.emails_disabled)`

/** Undefined when he wants no mail about it. */
export const findRecipient = (db: Db, source: MemberSource, userId: number): Promise<Recipient | undefined> =>
  db.row(recipientRow, sql`${wanting(source)} and u.id = ${userId}`)

/** How many of those who decide are bothered at most. */
const mostDeciders = 10

/** Who manages the members of a project or group and wants mail about it: those last active. */
export const recipientsWhoDecide = (db: Db, source: MemberSource): Promise<Recipient[]> => {
  const inGroup = sql`select a.user_id from group_access a where a.group_id = ${source.ancestorIds.at(-1) ?? null}::bigint
    and a.expires_on > current_date and a.level >=`
  const deciding =
    source.of === 'group'
      ? sql`${inGroup} ${literal(levels.owner)}`
      : sql`${inGroup} ${literal(levels.maintainer)}
        union select a.user_id from project_access a where a.project_id = ${source.projectId}
          and a.expires_on > current_date and a.level >= ${literal(levels.maintainer)}`
  return db.rows(
    recipientRow,
    sql`${wanting(source)} and u.id in (${deciding})
    order by u.last_activity_on desc nulls last, u.id limit ${literal(mostDeciders)}`,
  )
}
