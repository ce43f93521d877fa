import type { BlobCheck } from '../../../blobs/check.ts'
import type { Db } from '../../../db/db.ts'
import { storedFiles } from './queries.ts'

const page = 1000

/** Describes each large file whose blob is missing, damaged or has another size, one sentence each. */
export async function checkLargeFiles(db: Db, check: BlobCheck): Promise<string[]> {
  const problems: string[] = []
  let after = ''
  for (;;) {
    const files = await storedFiles(db, after, page)
    if (files.length === 0) return problems
    for (const { oid, size, project_id } of files) {
      const problem = await check(oid, size)
      if (problem !== undefined) problems.push(`project ${project_id}: its large file ${oid} ${problem}`)
    }
    after = files.at(-1)!.oid
  }
}
