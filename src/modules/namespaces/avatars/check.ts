import type { BlobCheck } from '../../../blobs/check.ts'
import type { Db } from '../../../db/db.ts'
import { storedAvatars } from './queries.ts'

const page = 1000

/** Describes each avatar and picture of the appearance whose blob is missing or damaged, one sentence each. */
export async function checkAvatars(db: Db, check: BlobCheck): Promise<string[]> {
  const problems: string[] = []
  let after = ''
  for (;;) {
    const avatars = await storedAvatars(db, after, page)
    if (avatars.length === 0) return problems
    for (const { owner, digest } of avatars) {
      const problem = await check(digest)
      if (problem !== undefined) problems.push(`${owner}: its picture ${digest} ${problem}`)
    }
    after = avatars.at(-1)!.owner
  }
}
