import type { Tx } from '../../../db/db.ts'
import { empty, raw, sql } from '../../../db/sql.ts'
import { holderIds } from '../../groups/index.ts'
import { kindOf, type NumberedType } from '../noteables/kinds.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { columnOf, sourceColumnOf, tableOf } from '../noteables/queries.ts'
import { newDiscussionId } from './discussion-id.ts'

/** What mentions or closes a noteable: another one, with its description and notes, or a commit. */
export type ReferenceSource =
  | { readonly noteable: Noteable & { readonly type: NumberedType } }
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
  const [sourceColumn, sourceValue, exists, projectId] =
    'commit' in source
      ? [raw('source_commit'), sql`${source.commit}::text`, raw('true'), source.projectId]
      : [
          sourceColumnOf(source.noteable.type),
          sql`${source.noteable.id}::bigint`,
          sql`exists (select from ${tableOf(source.noteable.type)} s where s.id = ${source.noteable.id})`,
          holderIds(source.noteable.holder).projectId,
        ]
  const [sourceProject, joined] =
    projectId === null ? [raw('null::bigint'), empty] : [raw('p.id'), sql`join projects p on p.id = ${projectId}`]
  const project = raw(kindOf(type).holder.of === 'project' ? 'm.project_id' : 'null::bigint')
  return (
    (await tx.run(sql`
      insert into notes (
        project_id, ${columnOf(type)}, author_id, discussion_id, system, repeats, body, source_project_id,
        ${sourceColumn}
      )
      select ${project}, m.id, u.id, ${newDiscussionId()}, true, ${repeats}, ${body}, ${sourceProject}, ${sourceValue}
      from ${tableOf(type)} m join users u on u.id = ${authorId} ${joined}
      where m.id = ${id} and ${exists}
      on conflict do nothing
    `)) > 0
  )
}
