import { type BlobCheck, problemsOf } from '../../../blobs/check.ts'
import type { Db } from '../../../db/db.ts'
import { storedUploads } from './queries.ts'

/** Describes each upload whose blob is missing, truncated or damaged, one sentence each. */
export const checkUploads = (db: Db, check: BlobCheck): Promise<string[]> =>
  problemsOf(check, {
    first: 0,
    next: async (after) =>
      (await storedUploads(db, after, 1000)).map(({ id, project_id, digest, size }) => ({
        key: id,
        name: `project ${project_id}: its upload ${id}`,
        digest,
        sizeBytes: size,
      })),
  })
