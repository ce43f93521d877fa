import { fileURLToPath } from 'node:url'
import type { Db } from '../db/db.ts'
import type { BlobStore } from './blob-store.ts'
import { DiskBlobs } from './disk.ts'
import { isS3, s3Address } from './location.ts'

/** Writes, reads and deletes a few bytes in a store of which no database knows. */
export async function probeStore(url: string): Promise<void> {
  if (!isS3(url)) return new DiskBlobs(fileURLToPath(url)).probe()
  const [{ S3Objects }, { probe }] = await Promise.all([import('./s3-client.ts'), import('./s3-probe.ts')])
  const objects = new S3Objects(s3Address(url))
  await probe(objects)
  objects.close()
}

/** Opens the store at a URL that the settings have accepted. Only object storage loads the AWS SDK. */
export async function openStore(url: string, db: Db): Promise<BlobStore> {
  if (!isS3(url)) return new DiskBlobs(fileURLToPath(url))
  const { S3Blobs } = await import('./s3.ts')
  return new S3Blobs(url, db)
}
