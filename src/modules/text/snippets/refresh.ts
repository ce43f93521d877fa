import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { inBatches } from '../../../db/batches.ts'
import { job } from '../../../jobs/job.ts'
import { recordActivity } from '../../projects/index.ts'
import { countSizeOfSnippets, deleteIncomplete, lockCommitted, saveFiles } from './edit-queries.ts'
import { emitSnippet } from './events.ts'
import { openHead, searchedText } from './files.ts'
import { mentionPeople } from './mentions.ts'
import type { SnippetFile } from './queries.ts'

const same = (a: readonly SnippetFile[], b: readonly SnippetFile[]): boolean =>
  a.length === b.length && a.every(({ path, oid }, index) => path === b[index]!.path && oid === b[index]!.oid)

/**
 * Saves in the row of a snippet what the head of its repository has: paths, sizes, text for searches. Changes nothing if it has them
 * already. The first files complete its creation. The row is locked while the head is read, so that a later head is not overwritten.
 */
export async function refreshSnippet(ctx: Ctx, id: number, actorId: number | null): Promise<void> {
  await ctx.transaction(async (tx) => {
    const row = await lockCommitted(tx, id)
    const head = row && (await openHead(ctx, id, tx))
    if (!row || !head || same(row.files, head.files)) return
    const { project_id, author_id, description, files } = row
    await saveFiles(tx, id, head.files, await searchedText(head.repo, head.files))
    await countSizeOfSnippets(tx, project_id)
    const isNew = files.length === 0
    if (isNew && project_id !== null) await mentionPeople(tx, { id, project_id }, author_id, description)
    if (project_id !== null) await recordActivity(tx, project_id)
    await emitSnippet(tx, id, {
      kind: isNew ? 'snippet_created' : 'snippet_updated',
      actorId,
      ...(!isNew && { changed: ['files'] }),
    })
  })
}

/** Runs after each change of the repository: a push does not know of snippets, and a process may die after its commit. */
export const refreshSnippetJob = job({
  name: 'refresh_snippet',
  input: Type.Object({ snippetId: Type.Integer(), userId: Type.Union([Type.Integer(), Type.Null()]) }),
  key: ({ snippetId }) => `refresh_snippet:${snippetId}`,
  attempts: 10,
  run: ({ snippetId, userId }, ctx) => refreshSnippet(ctx, snippetId, userId),
})

/** Deletes snippets whose creation was interrupted before the first commit. */
export const removeIncompleteSnippets = job({
  name: 'remove_incomplete_snippets',
  input: Type.Object({}),
  key: () => 'remove_incomplete_snippets',
  attempts: 3,
  every: { cron: '20 4 * * *', input: {} },
  run: (_input, ctx) => inBatches((size) => deleteIncomplete(ctx.db, size)),
})
