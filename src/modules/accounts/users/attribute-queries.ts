import { and, type Sql, sql } from '../../../db/sql.ts'

/** Attributes with a condition of their own, each of which takes milliseconds to plan; all further ones share one. */
const apart = 5

/** The holder, whose id `column` of the custom attributes has, has each of these attributes. A holder has a key once. */
export function hasCustomAttributes(column: Sql, id: Sql, attributes: Readonly<Record<string, string>>): Sql {
  const all = Object.entries(attributes)
  const rows = sql`from custom_attributes a where ${column} = ${id}`
  const others = all.slice(apart)
  const pairs = sql`
    select * from unnest(${others.map(([key]) => key)}::text[], ${others.map(([, value]) => value)}::text[])
  `
  return and([
    ...all
      .slice(0, apart)
      .map(([key, value]) => sql`exists (select ${rows} and a.key = ${key} and a.value = ${value})`),
    ...(others.length > 0
      ? [sql`(select count(*) ${rows} and (a.key, a.value) in (${pairs})) = ${others.length}`]
      : []),
  ])
}
