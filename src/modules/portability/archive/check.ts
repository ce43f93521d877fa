import { type BlobCheck, problemsOf } from '../../../blobs/check.ts'
import type { Db } from '../../../db/db.ts'
import { storedArchives } from './queries.ts'

/** Describes each archive of an export, or of an import that waits, whose blob is missing or damaged, one sentence each. */
export const checkArchives = (db: Db, check: BlobCheck): Promise<string[]> =>
  problemsOf(check, {
    first: '',
    next: async (after) =>
      (await storedArchives(db, after, 1000)).map(({ name, digest, size }) => ({
        key: name,
        name: `${name}: its archive`,
        digest,
        sizeBytes: size ?? undefined,
      })),
  })
