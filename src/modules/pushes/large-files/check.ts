import { type BlobCheck, problemsOf } from '../../../blobs/check.ts'
import type { Db } from '../../../db/db.ts'
import { storedFiles } from './queries.ts'

/** Describes each large file whose blob is missing, damaged or has another size, one sentence each. */
export const checkLargeFiles = (db: Db, check: BlobCheck): Promise<string[]> =>
  problemsOf<string>(check, {
    first: '',
    next: async (after) =>
      (await storedFiles(db, after, 1000)).map(({ oid, size, project_id }) => ({
        key: oid,
        name: `project ${project_id}: its large file ${oid}`,
        digest: oid,
        sizeBytes: size,
      })),
  })
