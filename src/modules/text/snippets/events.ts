import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { titleOfSnippet } from './edit-queries.ts'

type SnippetHappening = {
  readonly kind: 'snippet_created' | 'snippet_updated' | 'snippet_deleted'
  readonly actorId: number | null
  /** Names of changed attributes; `files` for the content. */
  readonly changed?: readonly string[]
}

/** Emits an event of a snippet: in its project, or about its author. */
export async function emitSnippet(tx: Tx, id: number, { kind, actorId, changed }: SnippetHappening): Promise<void> {
  const { project_id, author_id, title } = await titleOfSnippet(tx, id)
  await emit(tx, {
    kind,
    ...(project_id !== null && { projectId: project_id }),
    actorId,
    payload: { snippet_id: id, user_id: author_id, ...(changed && { changed }) },
    shown: { target: { type: 'Snippet', id, title } },
  })
}
