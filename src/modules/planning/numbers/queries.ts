import { raw, type Sql, sql } from '../../../db/sql.ts'

/** Kinds of records that are numbered within a project. */
type Numbered = 'merge_requests' | 'milestones'

/** Fragment that takes the next number of each of these projects, as `last`. `projects` selects `id`. */
export const nextNumber = (what: Numbered, projects: Sql): Sql =>
  sql`
    insert into internal_ids as i (project_id, what, last)
    select id, ${raw(`'${what}'`)}, 1
    from (${projects}) numbered
    on conflict (project_id, what) where project_id is not null do update set last = i.last + 1
    returning i.last
  `
