import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Db } from '../db/db.ts'
import { Failure } from '../kernel/failure.ts'
import { namesIn } from '../kernel/missing.ts'
import type { BlobStore } from './blob-store.ts'
import { DiskBlobs } from './disk.ts'
import { inObjects } from './in-objects.ts'
import { isS3, storeName } from './location.ts'
import { isMarker, markerPlace, readMarker } from './marker.ts'

/** Writes, reads and deletes a few bytes in a store of which no database knows. */
export async function probeStore(url: string): Promise<void> {
  if (!isS3(url)) return new DiskBlobs(fileURLToPath(url)).probe()
  const { probe } = await import('./s3-probe.ts')
  await inObjects(url, probe)
}

/** Opens the store at a URL that the settings have accepted. Only object storage loads the AWS SDK. */
export async function openStore(url: string, db: Db): Promise<BlobStore> {
  if (!isS3(url)) return new DiskBlobs(fileURLToPath(url))
  const { S3Blobs } = await import('./s3.ts')
  return new S3Blobs(url, db)
}

/** Fails unless a store is empty: blobs are restored into one that no other installation uses. */
export async function requireEmptyStore(url: string, installation: string): Promise<void> {
  const marker = await readMarker(url)
  if (marker !== undefined && marker !== installation)
    throw new Failure(
      'conflict',
      `${storeName(url)} belongs to installation ${marker}: set STITHY_BLOB_URL to an empty folder, or to an unused prefix of a bucket. ` +
        `If nothing uses it any more, delete ${markerPlace(url)}.`,
    )
  if (!(await isEmpty(url)))
    throw new Failure(
      'conflict',
      `${storeName(url)} has blobs: set STITHY_BLOB_URL to an empty folder, or to an unused prefix of a bucket.`,
    )
}

async function isEmpty(url: string): Promise<boolean> {
  if (!isS3(url)) {
    const names = await namesIn(join(fileURLToPath(url), 'sha256'))
    return names.length === 0
  }
  return inObjects(url, async (objects) => {
    for await (const keys of objects.keys()) if (keys.some((key) => !isMarker(key))) return false
    return true
  })
}
