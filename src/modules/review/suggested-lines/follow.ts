import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { type AppliedSuggestion, type Follow, openSuggestions } from '../../discussion/index.ts'
import { type ShiftOf, shiftsBetween } from './files.ts'

/** Maximum heads whose changes up to the new one are compared, one diff each; suggestions for older ones are outdated. */
const mostHeads = 20

/** Where the suggestions of a merge request that were not applied are in a new head. */
export const followSuggestions = async (
  ctx: Ctx,
  repo: Repository,
  mergeRequestId: number,
  head: Oid | null,
): Promise<Follow[]> => followTo(ctx, repo, await openSuggestions(ctx.db, mergeRequestId), head)

/** Where these suggestions are in a head of their merge request, in the same order. */
export async function followTo(
  ctx: Ctx,
  repo: Repository,
  suggestions: readonly AppliedSuggestion[],
  head: Oid | null,
): Promise<Follow[]> {
  const since = new Map<string, ShiftOf>()
  for (const { position } of suggestions)
    if (!since.has(position.head_sha) && since.size < mostHeads)
      since.set(position.head_sha, await shiftsBetween(ctx, repo, position.head_sha as Oid, head))
  return suggestions.map(({ id, position, from_line, to_line }) => {
    const shift = since.get(position.head_sha)?.(position.new_path, from_line, to_line)
    return { id, shift: shift ?? 0, outdated: shift === undefined }
  })
}
