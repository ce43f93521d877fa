import { visibilities } from '../../../access/levels.ts'
import type { Tx } from '../../../db/db.ts'
import { integer, type RowOf, text } from '../../../db/row.ts'
import { literal, type Sql, sql } from '../../../db/sql.ts'

/** Numbers of projects with a topic, by their visibility. `key` is the name in lower case. */
export const topicCountRow = {
  key: text,
  name: text,
  private_projects: integer,
  internal_projects: integer,
  public_projects: integer,
}
export type TopicCount = RowOf<typeof topicCountRow>

/** A condition on projects `p` and their namespaces `d`. */
export type ProjectCondition = Sql

const idsOf = async (tx: Tx, select: Sql): Promise<number[]> =>
  (await tx.rows({ id: integer }, select)).map(({ id }) => id)

/** Locks projects against changes of topics, visibility and deletion. Returns their ids. */
export const lockProjectsWhere = (tx: Tx, which: ProjectCondition): Promise<number[]> =>
  idsOf(
    tx,
    sql`
      select p.id
      from projects p join namespaces d on d.id = p.namespace_id
      where ${which}
      order by p.id
      for no key update of p
    `,
  )

/** Locks the sources of projects. Before these: the deletion of a fork, which its source counts, and a limit of the visibility of a source lock both. */
export const lockSourcesOf = (tx: Tx, which: ProjectCondition): Promise<number> =>
  tx.run(sql`
    select
    from projects s
    where s.id = any(
      array(
        select p.forked_from_project_id
        from projects p join namespaces d on d.id = p.namespace_id
        where p.forked_from_project_id is not null and ${which}
      )
    )
    order by s.id
    for no key update
  `)

/** Locks the direct forks of projects that are more visible than `visibility`. Returns their ids. */
export const lockForksAbove = (tx: Tx, projectIds: readonly number[], visibility: number): Promise<number[]> =>
  idsOf(
    tx,
    sql`
      select id
      from projects
      where forked_from_project_id = any(${projectIds}::bigint[]) and visibility > ${visibility}
      order by id
      for no key update
    `,
  )

/** Counts of each topic among these projects, without those that are being deleted. */
export const topicCounts = (tx: Tx, projectIds: readonly number[]): Promise<TopicCount[]> =>
  tx.rows(
    topicCountRow,
    sql`
      select lower(topic) as key, min(topic) as name,
        count(distinct p.id) filter (where p.visibility = ${literal(visibilities.private)}) as private_projects,
        count(distinct p.id) filter (where p.visibility = ${literal(visibilities.internal)}) as internal_projects,
        count(distinct p.id) filter (where p.visibility = ${literal(visibilities.public)}) as public_projects
      from projects p cross join unnest(p.topics) as topic
      where p.id = any(${projectIds}::bigint[]) and p.topics <> '{}' and not p.deleting
      group by lower(topic)
    `,
  )

/** Locks existing topics, in the order that all writers use. */
export const lockTopicKeys = (tx: Tx, keys: readonly string[]): Promise<number> =>
  tx.run(sql`select from topics where lower(name) = any(${keys}::text[]) order by lower(name) for update`)

const changesOf = (counts: readonly TopicCount[]): Sql => sql`
  unnest(
    ${counts.map(({ name }) => name)}::text[], ${counts.map((count) => count.private_projects)}::integer[],
    ${counts.map((count) => count.internal_projects)}::integer[],
    ${counts.map((count) => count.public_projects)}::integer[]
  ) as c (name, private_projects, internal_projects, public_projects)
`

/** Adds to the counts of topics; a topic that does not exist is created. */
export const addToTopics = (tx: Tx, counts: readonly TopicCount[]): Promise<number> =>
  tx.run(sql`
    insert into topics as t (name, private_projects, internal_projects, public_projects)
    select c.name, c.private_projects, c.internal_projects, c.public_projects
    from ${changesOf(counts)}
    order by lower(c.name)
    on conflict (lower(name)) do update
      set private_projects = t.private_projects + excluded.private_projects,
        internal_projects = t.internal_projects + excluded.internal_projects,
        public_projects = t.public_projects + excluded.public_projects
  `)

/** Adds negative numbers to the counts of topics that exist. Deletes those without projects that no administrator declared. */
export async function takeFromTopics(tx: Tx, counts: readonly TopicCount[]): Promise<void> {
  await tx.run(sql`
    update topics t
    set private_projects = t.private_projects + c.private_projects,
      internal_projects = t.internal_projects + c.internal_projects,
      public_projects = t.public_projects + c.public_projects
    from ${changesOf(counts)}
    where lower(t.name) = lower(c.name)
  `)
  await tx.run(sql`
    delete from topics
    where lower(name) = any(${counts.map(({ key }) => key)}::text[])
      and not declared
      and private_projects + internal_projects + public_projects = 0
  `)
}
