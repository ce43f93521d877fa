import type { Ctx } from '../../../api/ctx.ts'
import { storedAvatars } from './queries.ts'

const page = 1000

/** Describes each avatar whose blob is missing, one sentence each. Checks the blob store once for each avatar. */
export async function checkAvatars(ctx: Pick<Ctx, 'db' | 'blobs'>): Promise<string[]> {
  const problems: string[] = []
  let after = ''
  for (;;) {
    const avatars = await storedAvatars(ctx.db, after, page)
    if (avatars.length === 0) return problems
    for (const { owner, digest } of avatars)
      if (!(await ctx.blobs.has(digest))) problems.push(`${owner}: its picture ${digest} is missing`)
    after = avatars.at(-1)!.owner
  }
}
