import type { Tx } from '../../../db/db.ts'
import { noteMentions } from '../../discussion/index.ts'

/** Stores whom the description of a snippet mentions. */
export const mentionPeople = (
  tx: Tx,
  { id, project_id }: { readonly id: number; readonly project_id: number },
  authorId: number,
  description: string | null,
): Promise<void> =>
  noteMentions(
    tx,
    { type: 'Snippet', id, holder: { of: 'project', id: project_id } },
    { text: description ?? '', authorId },
  )
