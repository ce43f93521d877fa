import { Readable } from 'node:stream'
import type { RawBody, Reply } from '../../../api/endpoint.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { blobStream, readBlob } from '../../../git/objects/blobs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { notFound } from '../../../kernel/failure.ts'

/** Up to here a blob is read at once, through the shared reader; beyond, a process of its own streams it. */
const streamedFromBytes = 1024 * 1024

/**
 * The bytes of a blob as a body that no browser runs or renders. For HEAD nothing is read. Constant memory whatever
 * the size; one process above a megabyte.
 */
export async function rawBlob(
  repo: Repository,
  { blob, sizeBytes, what }: { blob: Oid; sizeBytes: number; what: string },
  { reply, head }: { reply: Reply; head: boolean },
): Promise<RawBody> {
  reply.header('content-security-policy', "default-src 'none'; sandbox")
  const rest = { contentType: 'text/plain', sizeBytes }
  if (head) return { body: Readable.from([]), ...rest }
  const found =
    sizeBytes <= streamedFromBytes
      ? (await readBlob(repo, blob, { maxBytes: streamedFromBytes }))?.content
      : (await blobStream(repo, blob))?.stream
  if (!found) throw notFound(what)
  return { body: found, ...rest }
}
