import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { job } from '../../../jobs/job.ts'
import { recordActivity } from '../../projects/index.ts'
import { countSizeOfSnippets, lockSnippet, saveFiles } from './edit-queries.ts'
import { emitSnippet } from './events.ts'
import { openHead, searchedText } from './files.ts'
import type { SnippetFile } from './queries.ts'

const same = (a: readonly SnippetFile[], b: readonly SnippetFile[]): boolean =>
  a.length === b.length && a.every(({ path, oid }, index) => path === b[index]!.path && oid === b[index]!.oid)

/**
 * Saves in the row of a snippet what the head of its repository has: paths, sizes, text for searches. Changes nothing if it has them
 * already. The row is locked while the head is read, so that a later head is not overwritten.
 */
export async function refreshSnippet(ctx: Ctx, id: number, actorId: number | null): Promise<void> {
  await ctx.transaction(async (tx) => {
    const row = await lockSnippet(tx, id)
    const head = row && (await openHead(ctx, id, tx))
    if (!row || !head || same(row.files, head.files)) return
    await saveFiles(tx, id, head.files, await searchedText(head.repo, head.files))
    await countSizeOfSnippets(tx, row.project_id)
    // The first files belong to its creation.
    if (row.files.length === 0) return
    if (row.project_id !== null) await recordActivity(tx, row.project_id)
    await emitSnippet(tx, id, { kind: 'snippet_updated', actorId, changed: ['files'] })
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
