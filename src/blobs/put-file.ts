import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { BlobStore, StoredBlob } from './blob-store.ts'

/** Stores a synced file whose size and digest the caller has computed. The file is gone afterwards. */
export async function putFile(store: BlobStore, path: string, blob: StoredBlob): Promise<void> {
  if (store.adopt) return store.adopt(path, blob)
  await store.put(createReadStream(path), blob)
  await rm(path, { force: true })
}
