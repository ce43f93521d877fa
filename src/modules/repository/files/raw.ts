import { Readable } from 'node:stream'
import type { RawBody, Reply } from '../../../api/endpoint.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { blobStream, readBlob } from '../../../git/objects/blobs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { notFound } from '../../../kernel/failure.ts'

/** Smaller blobs are read at once through the shared reader; a separate process streams larger ones. */
const streamedFromBytes = 1024 * 1024

/**
 * Streams a blob with headers that prevent browsers from running or rendering it. Reads nothing for HEAD. Constant
 * memory; one process above a megabyte.
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
