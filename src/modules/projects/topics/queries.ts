import type { Caller } from '../../../access/actor.ts'
import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, nullable, type RowOf, text } from '../../../db/row.ts'
import { containing, raw, type Sql, sql } from '../../../db/sql.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { countingTopics } from './count.ts'
import { lockProjectsWhere } from './count-queries.ts'

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

/**
 * Locks the projects of a topic. What changes both locks projects first, as an edit of a project does, to avoid deadlocks.
 * Projects that get the topic before `lockTopics` are locked later.
 */
export const lockProjectsOfTopic = (tx: Tx, id: number): Promise<number[]> =>
  lockProjectsWhere(
    tx,
    sql`
      topics <> '{}'
      and exists (select from topics where id = ${id})
      and topic_keys(topics) @> array(select lower(name) from topics where id = ${id})
    `,
  )

/**
 * Locks topics until the transaction ends, in the order that all writers use. Throws unless all of them exist, or if the caller has
 * lost the permission meanwhile.
 */
export async function lockTopics<const Ids extends readonly number[]>(
  tx: Tx,
  ids: Ids,
): Promise<{ [K in keyof Ids]: TopicAttributes }> {
  const held = await tx.rows(
    { id: integer, ...topicAttributesRow },
    sql`
      select id, name, title, description from topics where id = any(${ids}::bigint[]) order by lower(name) for update
    `,
  )
  const topics = ids.map((each) => held.find(({ id }) => id === each))
  if (topics.includes(undefined)) throw rowNotFound()
  await tx.requirePermission?.()
  return topics as { [K in keyof Ids]: TopicAttributes }
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
