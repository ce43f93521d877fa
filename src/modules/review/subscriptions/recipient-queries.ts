import type { Db } from '../../../db/db.ts'
import { literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { levelNumber, mailAddress, type Recipient } from '../../groups/index.ts'
import { readsMergeRequests } from './reader-queries.ts'

const level = (name: Parameters<typeof levelNumber>[0]): Sql => literal(levelNumber(name))

/** A merge request as mails name it. */
export type MailedMergeRequest = { readonly iid: number; readonly title: string; readonly full_path: string }

type Somebody = { readonly name: string; readonly username: string }

const mergeRequestJson = raw(`json_build_object('iid', m.iid, 'title', m.title, 'full_path', p.full_path)`)
const author = raw(`json_build_object('name', by_whom.name, 'username', by_whom.username)`)

/** What `u` wants to be told of the project `p` in the namespace `n`: as he said there, for the nearest group around, or in general. */
const wish = sql`left join lateral (
  select s.level, s.events from notification_settings s
  where s.user_id = u.id and ((s.level <> ${level('global')} and (s.project_id = p.id or s.namespace_id = any(n.traversal_ids)))
    or (s.project_id is null and s.namespace_id is null))
  order by s.project_id is null, array_position(n.traversal_ids, s.namespace_id) desc nulls last limit 1) w on true
  left join subscriptions c on c.merge_request_id = m.id and c.user_id = u.id`

const wished = sql`coalesce(w.level, ${level('participating')})`

/** Whether `u` can and may be told of the merge request `m`, and did not say that he does not want to. */
const reached = sql`not p.deleting and ${readsMergeRequests} and coalesce(c.subscribed, true) and ${wished} <> ${level('disabled')}
  and not exists (select from namespaces a where a.id = any(n.traversal_ids) and a.emails_disabled)`

const place = raw(
  'join merge_requests m on m.id = t.merge_request_id join projects p on p.id = m.project_id join namespaces n on n.id = p.namespace_id',
)

export type MailedNote = {
  readonly id: number
  readonly body: string
  readonly author_id: number
  readonly author: Somebody
  readonly merge_request: MailedMergeRequest
  /** How many notes its author wrote within the last hour, counted to a bound. */
  readonly lately: number
}

export const findMailedNote = (db: Db, id: number, bound: number): Promise<MailedNote | undefined> =>
  db.row<MailedNote>(sql`
    select t.id, t.body, t.author_id, ${author} as author, ${mergeRequestJson} as merge_request,
      (select count(*)::integer from (select from notes l where l.author_id = t.author_id and not l.system
        and l.created_at > now() - interval '1 hour' limit ${literal(bound)}) counted) as lately
    from notes t ${place} join users by_whom on by_whom.id = t.author_id where t.id = ${id}`)

const watches = sql`s.level in (${level('watch')}, ${level('custom')})`
const inGeneral = raw('s.project_id is null and s.namespace_id is null')

/** People who may want to be told of whatever is said about `m`: who takes part or asked for it, and who watches the project. */
const candidates = sql`select id, bool_or(takes_part) as takes_part from (
  select m.author_id as id, true as takes_part
  union all select a.user_id, true from merge_request_assignees a where a.merge_request_id = m.id
  union all select o.author_id, true from notes o where o.merge_request_id = m.id and not o.system
  union all select o.user_id, true from mentions o where o.merge_request_id = m.id
  union all select o.user_id, o.subscribed from subscriptions o where o.merge_request_id = m.id
  union all select s.user_id, false from notification_settings s where ${watches}
    and (s.project_id = p.id or s.namespace_id = any(n.traversal_ids))
  union all select s.user_id, false from notification_settings s join group_access a on a.user_id = s.user_id and a.group_id = p.namespace_id
    where ${watches} and ${inGeneral}
  union all select s.user_id, false from notification_settings s join project_access a on a.user_id = s.user_id and a.project_id = p.id
    where ${watches} and ${inGeneral}) each group by id`

/** Who wants mail about a note: as he set it for the project, and unless he unsubscribed. Its author does not. */
export const recipientsOfNote = (db: Db, { id, author_id }: MailedNote): Promise<Recipient[]> => {
  const mentioned = sql`exists (select from mentions o where o.note_id = t.id and o.user_id = u.id)`
  return db.rows<Recipient>(sql`
    select u.id, u.name, u.username, ${mailAddress} as address from notes t ${place}
    cross join lateral (${candidates}) as perhaps join users u on u.id = perhaps.id ${wish}
    where t.id = ${id} and u.id <> ${author_id} and ${reached} and case ${wished}
      when ${level('mention')} then ${mentioned}
      when ${level('watch')} then true
      when ${level('custom')} then coalesce((w.events->>'new_note')::boolean, false) or perhaps.takes_part
      else perhaps.takes_part end
    order by u.id`)
}

export type MailedTodo = Recipient & {
  readonly action: string
  readonly author: Somebody
  readonly merge_request: MailedMergeRequest
}

/**
 * Of these todos those that are to be told by mail: to who wants that, and no more than `bound` within an hour by whoever put them
 * there.
 */
export const recipientsOfTodos = (db: Db, ids: readonly number[], bound: number): Promise<MailedTodo[]> =>
  db.rows<MailedTodo>(sql`
    select u.id, u.name, u.username, ${mailAddress} as address, t.action, ${author} as author, ${mergeRequestJson} as merge_request
    from todos t ${place} join users u on u.id = t.user_id join users by_whom on by_whom.id = t.author_id ${wish}
    where t.id = any(${ids}::bigint[]) and ${reached} and (t.action <> 'assigned' or ${wished} <> ${level('mention')})
      and (select count(*) from (select from todos l where l.author_id = t.author_id and l.user_id <> l.author_id
        and l.created_at > now() - interval '1 hour' limit ${literal(bound + 1)}) counted) <= ${literal(bound)}
    order by t.id`)
