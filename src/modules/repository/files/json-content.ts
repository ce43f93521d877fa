import type { Oid } from '../../../git/format/oid.ts'
import { readBlob } from '../../../git/objects/blobs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'

/**
 * What goes into one JSON answer at most. It is held in memory as bytes, as Base64 and as the answer, some four times
 * its size at once; what is larger is for `/raw`, which streams.
 */
export const maxJsonContentBytes = 32 * 1024 * 1024

/** The content of a blob for a JSON record; `what` is missing when there is none. Two round trips unless it is remembered. */
export async function jsonContent(repo: Repository, blob: Oid, sizeBytes: number, what: string): Promise<Buffer> {
  if (sizeBytes > maxJsonContentBytes)
    throw new Failure('too_large', `${what} is larger than ${maxJsonContentBytes} bytes: use its raw form`)
  const found = await readBlob(repo, blob, { maxBytes: maxJsonContentBytes })
  if (!found) throw notFound(what)
  return found.content
}
