import type { BlobStore } from '../blobs/blob-store.ts'
import { type BlobCheck, blobCheck } from '../blobs/check.ts'
import type { Db } from '../db/db.ts'
import { checkAvatars } from '../modules/namespaces/index.ts'
import { checkArchives } from '../modules/portability/index.ts'
import { checkUploads } from '../modules/projects/index.ts'
import { checkLargeFiles } from '../modules/pushes/index.ts'
import { checkLayers } from '../modules/registry/index.ts'

/** A sentence for each blob that a row names, and with which something is wrong. */
export const checkNamedBlobs = async (db: Db, check: BlobCheck): Promise<string[]> => [
  ...(await checkAvatars(db, check)),
  ...(await checkLargeFiles(db, check)),
  ...(await checkUploads(db, check)),
  ...(await checkLayers(db, check)),
  ...(await checkArchives(db, check)),
]

/** A sentence for each blob that a row names, and a store lacks. */
export const missingBlobs = (db: Db) => (store: BlobStore) => checkNamedBlobs(db, blobCheck(store))
