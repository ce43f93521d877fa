import { raw, type Sql, sql } from '../../../db/sql.ts'

/** Kinds of records that are numbered within a project or group. A number is never given twice, even after a deletion. */
type Numbered = 'deployments' | 'epics' | 'issues' | 'merge_requests' | 'milestones'

/**
 * Fragment that takes as many numbers for each project as `rows` has rows with its `project_id`. Returns rows (project_id, last) with
 * the highest number taken.
 */
export const nextNumbers = (what: Numbered, rows: Sql): Sql =>
  sql`
    insert into internal_ids as i (project_id, what, last)
    select project_id, ${raw(`'${what}'`)}, count(*)
    from (${rows}) numbered
    group by project_id
    on conflict (project_id, what) where project_id is not null do update set last = i.last + excluded.last
    returning i.project_id, i.last
  `

/**
 * Fragment that makes later numbers of each project in `rows` greater than a number chosen by the caller. Returns rows
 * (project_id, last).
 */
export const reachNumber = (what: Numbered, number: number | Sql, rows: Sql): Sql =>
  sql`
    insert into internal_ids as i (project_id, what, last)
    select project_id, ${raw(`'${what}'`)}, ${number}
    from (${rows}) numbered
    on conflict (project_id, what) where project_id is not null do update set last = greatest(i.last, excluded.last)
    returning i.project_id, i.last
  `

/** Fragment that takes the next number of a project, as `last`. */
export const nextNumber = (what: Numbered, projectId: number): Sql =>
  nextNumbers(what, sql`select ${projectId}::bigint as project_id`)

/** Fragment that takes the next number of a group, as `last`. */
export const nextGroupNumber = (what: Numbered, groupId: number): Sql =>
  sql`
    insert into internal_ids as i (namespace_id, what, last)
    values (${groupId}, ${raw(`'${what}'`)}, 1)
    on conflict (namespace_id, what) where namespace_id is not null do update set last = i.last + 1
    returning i.last
  `

/** Fragment that makes later numbers of groups greater. `rows` has columns namespace_id and last. */
export const reachGroupNumbers = (what: Numbered, rows: Sql): Sql =>
  sql`
    insert into internal_ids as i (namespace_id, what, last)
    select namespace_id, ${raw(`'${what}'`)}, last
    from (${rows}) numbered
    on conflict (namespace_id, what) where namespace_id is not null do update set last = greatest(i.last, excluded.last)
  `
