import type { Oid } from '../../../git/format/oid.ts'
import { readBlob } from '../../../git/objects/blobs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'

/**
 * Maximum content in one JSON response. It is in memory as bytes, as Base64 and as the response, about four times its
 * size at once; `/raw` streams larger files.
 */
export const maxJsonContentBytes = 32 * 1024 * 1024

/** The content of a blob for a JSON record; `what` is named in errors. Two round trips, unless it is cached. */
export async function jsonContent(repo: Repository, blob: Oid, sizeBytes: number, what: string): Promise<Buffer> {
  if (sizeBytes > maxJsonContentBytes)
    throw new Failure('too_large', `${what} is larger than ${maxJsonContentBytes} bytes: use its raw form`)
  const found = await readBlob(repo, blob, { maxBytes: maxJsonContentBytes })
  if (!found) throw notFound(what)
  return found.content
}
