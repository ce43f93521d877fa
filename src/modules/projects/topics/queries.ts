import type { Caller } from '../../../access/actor.ts'
import type { List } from '../../../api/page.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, nullable, type RowOf, text } from '../../../db/row.ts'
import { containing, raw, type Sql, sql } from '../../../db/sql.ts'

export const topicRow = {
  id: integer,
  name: text,
  title: nullable(text),
  description: nullable(text),
  avatar: nullable(text),
  /** Of those that are open to the caller by their visibility; of all, for administrators. */
  projects: integer,
}
export type TopicRow = RowOf<typeof topicRow>

/** Projects that count for the caller. */
const counted = (caller: Caller): Sql => {
  if (caller?.admin) return raw('(t.public_projects + t.internal_projects + t.private_projects)')
  return raw(caller && !caller.external ? '(t.public_projects + t.internal_projects)' : 't.public_projects')
}

/** A name that only closed projects use is theirs. */
const visible = (caller: Caller): Sql => (caller?.admin ? raw('true') : sql`(t.declared or ${counted(caller)} > 0)`)

const columns = (caller: Caller): Sql =>
  sql`t.id, t.name, t.title, t.description, t.avatar, ${counted(caller)} as projects`

export type TopicFilters = { search?: string | undefined; without_projects?: boolean | undefined }

/** The most used first. */
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

/** What administrators say about a topic. */
export const topicAttributesRow = {
  name: text,
  title: nullable(text),
  description: nullable(text),
}
export type TopicAttributes = RowOf<typeof topicAttributesRow>

/** A topic that projects have already is there: then it is declared now. Nothing when it was declared before. */
export const insertTopic = async (tx: Tx, topic: TopicAttributes): Promise<number | undefined> =>
  (
    await tx.row(
      { id: integer },
      sql`
      insert into topics as t (name, title, description, declared)
      values (${topic.name}, ${topic.title}, ${topic.description}, true)
      on conflict (lower(name)) do update set title = excluded.title, description = excluded.description, declared = true, updated_at = now()
        where not t.declared
      returning id`,
    )
  )?.id

export const lockTopic = (tx: Tx, id: number): Promise<TopicAttributes | undefined> =>
  tx.row(topicAttributesRow, sql`select name, title, description from topics where id = ${id} for update`)

/** Under a new name it counts nothing until its projects have that, too: `renameInProjects`. */
export const updateTopic = (tx: Tx, id: number, { name, title, description }: TopicAttributes): Promise<number> =>
  tx.run(sql`
    update topics t set name = ${name}, title = ${title}, description = ${description}, declared = true, updated_at = now(),
      public_projects = case when renamed then 0 else public_projects end,
      internal_projects = case when renamed then 0 else internal_projects end,
      private_projects = case when renamed then 0 else private_projects end
    from (select lower(name) <> lower(${name}) as renamed from topics where id = ${id}) as change where t.id = ${id}`)

/** Projects with the topic, in any spelling. */
const having = (name: string): Sql => sql`topics <> '{}' and topic_keys(topics) @> array[lower(${name})]`

/** Puts the new name where the old one was; each project keeps its topics sorted and once. */
export const renameInProjects = (tx: Tx, name: string, newName: string): Promise<number> =>
  tx.run(sql`
    update projects set topics = array(
      select distinct case when lower(topic) = lower(${name}) then ${newName} else topic end from unnest(topics) as topic order by 1)
    where ${having(name)}`)

/** Puts one topic where another was, but only once, and as a project spells it that has it already. */
export const replaceInProjects = (tx: Tx, name: string, newName: string): Promise<number> =>
  tx.run(sql`
    update projects set topics = array(
      select distinct topic from (
        select topic from unnest(topics) as topic where lower(topic) <> lower(${name})
        union all select ${newName} where not topic_keys(topics) @> array[lower(${newName})]) as kept order by 1)
    where ${having(name)}`)

export const removeFromProjects = (tx: Tx, name: string): Promise<number> =>
  tx.run(sql`
    update projects set topics = array(select topic from unnest(topics) with ordinality as t (topic, at) where lower(topic) <> lower(${name}) order by at)
    where ${having(name)}`)

export const deleteTopicRow = (tx: Tx, id: number): Promise<number> => tx.run(sql`delete from topics where id = ${id}`)
