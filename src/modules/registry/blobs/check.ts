import { type BlobCheck, problemsOf } from '../../../blobs/check.ts'
import type { Db } from '../../../db/db.ts'
import { storedLayers } from './queries.ts'

/** Describes each layer whose blob is missing, damaged or has another size, one sentence each. */
export const checkLayers = (db: Db, check: BlobCheck): Promise<string[]> =>
  problemsOf<string>(check, {
    first: '',
    next: async (after) =>
      (await storedLayers(db, after, 1000)).map(({ digest, size, stored, project_id }) => ({
        key: digest,
        name: `project ${project_id}: its container layer ${digest}`,
        digest: stored,
        sizeBytes: size,
      })),
  })
