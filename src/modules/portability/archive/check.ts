import type { BlobCheck } from '../../../blobs/check.ts'
import type { Db } from '../../../db/db.ts'
import { storedArchives } from './queries.ts'

const page = 1000

/** Describes each archive of an export, or of an import that waits, whose blob is missing or damaged, one sentence each. */
export async function checkArchives(db: Db, check: BlobCheck): Promise<string[]> {
  const problems: string[] = []
  for (let after = ''; ; ) {
    const archives = await storedArchives(db, after, page)
    if (archives.length === 0) return problems
    for (const { name, digest, size } of archives) {
      const problem = await check(digest, size ?? undefined)
      if (problem !== undefined) problems.push(`${name}: its archive ${problem}`)
    }
    after = archives.at(-1)!.name
  }
}
