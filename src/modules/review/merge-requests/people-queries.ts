import type { Caller } from '../../../access/actor.ts'
import type { List } from '../../../api/page.ts'
import type { Db } from '../../../db/db.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { userReferenceColumns } from '../../accounts/index.ts'
import { readableMergeRequests, visibleProjects } from '../../projects/index.ts'

/** Who takes part in a merge request, as `participates` says (modules/review/subscriptions/queries.ts); the author first, others by id. */
export function participantsOf({ id, author_id }: { readonly id: number; readonly author_id: number }): List {
  const people: Sql = sql`u.id = any(array(
    select ${author_id}::bigint union select a.user_id from merge_request_assignees a where a.merge_request_id = ${id}
    union select n.author_id from notes n where n.merge_request_id = ${id} and not n.system
    union select t.user_id from mentions t where t.merge_request_id = ${id}))`
  return {
    type: 'User',
    select: sql`select ${userReferenceColumns} from users u`,
    from: raw('from users u'),
    where: [people],
    order: [
      { by: sql`u.id = ${author_id}`, direction: 'desc' },
      { by: raw('u.id'), direction: 'asc' },
    ],
  }
}

/** Open merge requests assigned to somebody, in projects that are not archived and that he may read. */
export const countAssigned = async (db: Db, caller: NonNullable<Caller>): Promise<number> =>
  (await db.kept.row<{ total: number }>(sql`
    select count(*)::integer as total from merge_request_assignees a join merge_requests m on m.id = a.merge_request_id
    join projects p on p.id = m.project_id
    where a.user_id = ${caller.id} and m.state = 'opened' and not p.archived and not p.deleting and ${visibleProjects(caller)}
      and ${readableMergeRequests(caller)}`))!.total
