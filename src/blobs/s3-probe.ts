import { hash, randomBytes, randomUUID } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { Failure } from '../kernel/failure.ts'
import { StoreUnavailable } from './blob-store.ts'
import type { S3Objects } from './s3-client.ts'

/** Writes, reads and deletes a small object, and lists uploads. Fails with what does not work and why, for operators. */
export async function probe(objects: S3Objects): Promise<void> {
  const key = `probe-${randomUUID()}`
  const bytes = randomBytes(64)
  await explained('write', () => objects.put(key, bytes, hash('sha256', bytes, 'base64')))
  const read = await explained('read', async () => {
    const found = await objects.get(key)
    return found && (await buffer(found.body))
  })
  await explained('delete', () => objects.remove(key))
  if (!read?.equals(bytes)) throw new Failure('unavailable', 'does not return the bytes that were written')
  await explained('list uploads', async () => {
    for await (const _ of objects.unfinished()) break
  })
}

/** Adds to a failure what failed and why, for operators. */
async function explained<T>(action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const reason = error instanceof StoreUnavailable ? error.reason : (error as Error).message
    throw new Failure('unavailable', `cannot ${action}: ${reason}`, { cause: error })
  }
}
