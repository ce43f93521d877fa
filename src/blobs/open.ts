import { fileURLToPath } from 'node:url'
import { Failure } from '../kernel/failure.ts'
import type { BlobStore } from './blob-store.ts'
import { DiskBlobs } from './disk.ts'

/** Opens the store at a URL such as `file:///srv/stithy/blobs`. Only `file:` URLs are supported. */
export function openBlobs(url: string): BlobStore {
  if (!url.startsWith('file:'))
    throw new Failure('unavailable', `Blobs cannot be stored at ${url}: only file: URLs are supported.`)
  return new DiskBlobs(fileURLToPath(url))
}
