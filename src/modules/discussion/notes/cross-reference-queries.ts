import type { Tx } from '../../../db/db.ts'
import { raw, sql } from '../../../db/sql.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { columnOf, sourceColumnOf, tableOf } from '../noteables/queries.ts'
import { newDiscussionId } from './discussion-id.ts'

/** What mentions or closes a noteable: another one, with its description and notes, or a commit. */
export type ReferenceSource =
  | { readonly projectId: number; readonly noteable: Pick<Noteable, 'type' | 'id'> }
  | { readonly projectId: number; readonly commit: string }

export type CrossReference = {
  readonly authorId: number
  readonly body: string
  readonly source: ReferenceSource
  /** Says more than that the source mentions it: closed, moved, linked. There is one such note each time, not one for each source. */
  readonly repeats?: boolean
}

/**
 * Adds a system note about a source, once unless it `repeats`. Only users who may read the source see it. False if there is one, or if
 * the source or the noteable is gone.
 */
export const insertCrossReference = async (
  tx: Tx,
  { type, id }: Pick<Noteable, 'type' | 'id'>,
  { authorId, body, source, repeats = false }: CrossReference,
): Promise<boolean> => {
  const [sourceColumn, sourceValue, exists] =
    'commit' in source
      ? [raw('source_commit'), sql`${source.commit}::text`, raw('true')]
      : [
          sourceColumnOf(source.noteable.type),
          sql`${source.noteable.id}::bigint`,
          sql`exists (select from ${tableOf(source.noteable.type)} s where s.id = ${source.noteable.id})`,
        ]
  return (
    (await tx.run(sql`
      insert into notes (
        project_id, ${columnOf(type)}, author_id, discussion_id, system, repeats, body, source_project_id,
        ${sourceColumn}
      )
      select m.project_id, m.id, u.id, ${newDiscussionId()}, true, ${repeats}, ${body}, p.id, ${sourceValue}
      from ${tableOf(type)} m, users u, projects p
      where m.id = ${id} and u.id = ${authorId} and p.id = ${source.projectId} and ${exists}
      on conflict do nothing
    `)) > 0
  )
}
