import type { Tx } from '../../../db/db.ts'
import { sql } from '../../../db/sql.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { columnOf, tableOf } from '../noteables/queries.ts'
import { newDiscussionId } from './discussion-id.ts'

/** What mentions a noteable: a merge request, with its description and notes, or a commit. */
export type ReferenceSource =
  | { readonly projectId: number; readonly mergeRequestId: number }
  | { readonly projectId: number; readonly commit: string }

/** Adds a system note about a source, once. False if there is one, or if the source or the noteable is gone. */
export const insertCrossReference = async (
  tx: Tx,
  { type, id }: Pick<Noteable, 'type' | 'id'>,
  { authorId, body, source }: { readonly authorId: number; readonly body: string; readonly source: ReferenceSource },
): Promise<boolean> => {
  const mergeRequestId = 'mergeRequestId' in source ? source.mergeRequestId : null
  const commit = 'commit' in source ? source.commit : null
  const column = columnOf(type)
  return (
    (await tx.run(sql`
      insert into notes (
        project_id, ${column}, author_id, discussion_id, system, body, source_project_id,
        source_merge_request_id, source_commit
      )
      select m.project_id, m.id, u.id, ${newDiscussionId()}, true, ${body}, p.id, ${mergeRequestId}::bigint, ${commit}
      from ${tableOf(type)} m, users u, projects p
      where m.id = ${id}
        and u.id = ${authorId}
        and p.id = ${source.projectId}
        and (${mergeRequestId}::bigint is null or exists (select from merge_requests s where s.id = ${mergeRequestId}))
      on conflict do nothing
    `)) > 0
  )
}
