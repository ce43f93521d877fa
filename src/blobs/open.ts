import { fileURLToPath } from 'node:url'
import { Failure } from '../kernel/failure.ts'
import type { BlobStore } from './blob-store.ts'
import { DiskBlobs } from './disk.ts'

/** The store at a URL: `file:///srv/stithy/blobs`. */
export function openBlobs(url: string): BlobStore {
  if (!url.startsWith('file:'))
    throw new Failure('unavailable', `Blobs cannot be kept at ${url}: only file: URLs are understood.`)
  return new DiskBlobs(fileURLToPath(url))
}
