import type { BlobCheck } from '../../../blobs/check.ts'
import type { Db } from '../../../db/db.ts'
import { storedLayers } from './queries.ts'

const page = 1000

/** Describes each layer whose blob is missing, damaged or has another size, one sentence each. */
export async function checkLayers(db: Db, check: BlobCheck): Promise<string[]> {
  const problems: string[] = []
  for (let after = ''; ; ) {
    const layers = await storedLayers(db, after, page)
    if (layers.length === 0) return problems
    for (const { digest, size, stored: name, project_id } of layers) {
      const problem = await check(name, size)
      if (problem !== undefined) problems.push(`project ${project_id}: its container layer ${digest} ${problem}`)
    }
    after = layers.at(-1)!.digest
  }
}
