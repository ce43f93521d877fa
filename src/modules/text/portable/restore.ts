import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { countSizeOfSnippets } from '../snippets/edit-queries.ts'
import { openHead, searchedText } from '../snippets/files.ts'
import { deleteWithoutFiles, restoreFiles } from './queries.ts'

/** Reads the files of imported snippets from their repositories. Those without files are deleted: returns their number. No event. */
export async function restoreSnippets(ctx: Ctx, tx: Tx, projectId: number, ids: readonly number[]): Promise<number> {
  let empty = 0
  for (const id of ids) {
    const head = await openHead(ctx, id, tx)
    if (head && head.files.length > 0) await restoreFiles(tx, id, head.files, await searchedText(head.repo, head.files))
    else empty += await deleteWithoutFiles(tx, id)
  }
  if (ids.length > 0) await countSizeOfSnippets(tx, projectId)
  return empty
}
