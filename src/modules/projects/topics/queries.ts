import type { Caller } from '../../../access/actor.ts'
import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, nullable, type RowOf, text } from '../../../db/row.ts'
import { containing, raw, type Sql, sql } from '../../../db/sql.ts'
import { countingTopics } from './count.ts'

export const topicRow = {
  id: integer,
  name: text,
  title: nullable(text),
  description: nullable(text),
  avatar: nullable(text),
  /** Number of projects whose visibility is open to the caller; all for administrators. */
  projects: integer,
}
export type TopicRow = RowOf<typeof topicRow>

/** Number of projects, as counted for the caller. */
const counted = (caller: Caller): Sql => {
  if (caller?.admin) return raw('(t.public_projects + t.internal_projects + t.private_projects)')
  return raw(caller && !caller.external ? '(t.public_projects + t.internal_projects)' : 't.public_projects')
}

/** Names that only private projects use are not revealed. */
const visible = (caller: Caller): Sql => (caller?.admin ? raw('true') : sql`(t.declared or ${counted(caller)} > 0)`)

const columns = (caller: Caller): Sql =>
  sql`t.id, t.name, t.title, t.description, t.avatar, ${counted(caller)} as projects`

export type TopicFilters = { search?: string | undefined; without_projects?: boolean | undefined }

/** Most used first. */
export const listTopics = (caller: Caller, { search, without_projects }: TopicFilters): List => ({
  type: 'Topic',
  select: sql`select ${columns(caller)} from topics t`,
  from: sql`from topics t`,
  where: [
    visible(caller),
    ...(search?.trim()
      ? [sql`(t.name ilike ${containing(search.trim())} or t.title ilike ${containing(search.trim())})`]
      : []),
    ...(without_projects ? [raw('t.public_projects + t.internal_projects + t.private_projects = 0')] : []),
  ],
  order: [
    { by: counted(caller), direction: 'desc' },
    { by: raw('t.id'), direction: 'asc' },
  ],
})

export const findTopic = (db: Db, caller: Caller, id: number): Promise<TopicRow | undefined> =>
  db.row(topicRow, sql`select ${columns(caller)} from topics t where t.id = ${id} and ${visible(caller)}`)

/** Attributes of a topic that administrators set. */
export const topicAttributesRow = {
  name: text,
  title: nullable(text),
  description: nullable(text),
}
export type TopicAttributes = RowOf<typeof topicAttributesRow>

/** Declares a topic; projects may use it already. Undefined if it is declared already. */
export const insertTopic = async (tx: Tx, topic: TopicAttributes): Promise<number | undefined> =>
  (
    await tx.row(
      { id: integer },
      sql`
        insert into topics as t (name, title, description, declared)
        values (${topic.name}, ${topic.title}, ${topic.description}, true)
        on conflict (lower(name)) do update
          set title = excluded.title, description = excluded.description, declared = true, updated_at = now()
          where not t.declared
        returning id
      `,
    )
  )?.id

/** Locks a topic until the transaction ends. Throws if the caller has lost the permission meanwhile. */
export async function lockTopic(tx: Tx, id: number): Promise<TopicAttributes | undefined> {
  const held = await tx.row(
    topicAttributesRow,
    sql`select name, title, description from topics where id = ${id} for update`,
  )
  if (held) await tx.requirePermission?.()
  return held
}

/** A renamed topic has no projects until they use the new name: `renameInProjects`. */
export const updateTopic = (tx: Tx, id: number, { name, title, description }: TopicAttributes): Promise<number> =>
  tx.run(sql`
    update topics t
    set name = ${name}, title = ${title}, description = ${description}, declared = true, updated_at = now(),
      public_projects = case when renamed then 0 else public_projects end,
      internal_projects = case when renamed then 0 else internal_projects end,
      private_projects = case when renamed then 0 else private_projects end
    from (select lower(name) <> lower(${name}) as renamed from topics where id = ${id}) as change
    where t.id = ${id}
  `)

/** Projects with the topic, ignoring case. */
const having = (name: string): Sql => sql`topics <> '{}' and topic_keys(topics) @> array[lower(${name})]`

/** Sets the topics of all projects with a topic, and counts them. Returns the number of projects. */
const setTopics = (tx: Tx, name: string, topics: Sql): Promise<number> =>
  countingTopics(tx, having(name), (ids) =>
    tx.run(sql`update projects set topics = ${topics} where id = any(${ids}::bigint[])`),
  )

/** Replaces a topic's name in all projects; their topics stay sorted and unique. */
export const renameInProjects = (tx: Tx, name: string, newName: string): Promise<number> =>
  setTopics(
    tx,
    name,
    sql`
      array(
        select distinct case when lower(topic) = lower(${name}) then ${newName} else topic end
        from unnest(topics) as topic
        order by 1
      )
    `,
  )

/**
 * Replaces a topic by another in all projects. A project that has the other already has it once, in its own spelling.
 */
export const replaceInProjects = (tx: Tx, name: string, newName: string): Promise<number> =>
  setTopics(
    tx,
    name,
    sql`
      array(
        select distinct topic
        from (
          select topic from unnest(topics) as topic where lower(topic) <> lower(${name})
          union all select ${newName} where not topic_keys(topics) @> array[lower(${newName})]
        ) as remaining
        order by 1
      )
    `,
  )

export const removeFromProjects = (tx: Tx, name: string): Promise<number> =>
  setTopics(
    tx,
    name,
    sql`
      array(
        select topic
        from unnest(topics) with ordinality as t (topic, at)
        where lower(topic) <> lower(${name})
        order by at
      )
    `,
  )

export const deleteTopicRow = (tx: Tx, id: number): Promise<number> => tx.run(sql`delete from topics where id = ${id}`)
