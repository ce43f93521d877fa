import { type BlobCheck, problemsOf } from '../../../blobs/check.ts'
import type { Db } from '../../../db/db.ts'
import { storedAvatars } from './queries.ts'

/** Describes each avatar and picture of the appearance whose blob is missing or damaged, one sentence each. */
export const checkAvatars = (db: Db, check: BlobCheck): Promise<string[]> =>
  problemsOf(check, {
    first: '',
    next: async (after) =>
      (await storedAvatars(db, after, 1000)).map(({ owner, digest }) => ({
        key: owner,
        name: `${owner}: its picture ${digest}`,
        digest,
      })),
  })
