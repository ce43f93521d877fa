import type { BlobCheck } from '../../../blobs/check.ts'
import type { Db } from '../../../db/db.ts'
import { storedUploads } from './queries.ts'

const page = 1000

/** Describes each upload whose blob is missing, truncated or damaged, one sentence each. */
export async function checkUploads(db: Db, check: BlobCheck): Promise<string[]> {
  const problems: string[] = []
  let after = 0
  for (;;) {
    const uploads = await storedUploads(db, after, page)
    if (uploads.length === 0) return problems
    for (const { id, project_id, digest, size } of uploads) {
      const problem = await check(digest, size)
      if (problem !== undefined) problems.push(`project ${project_id}: its upload ${id} ${problem}`)
    }
    after = uploads.at(-1)!.id
  }
}
