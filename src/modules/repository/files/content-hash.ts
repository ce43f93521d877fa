import { createHash, hash } from 'node:crypto'
import type { Oid } from '../../../git/format/oid.ts'
import { blobStream } from '../../../git/objects/blobs.ts'
import { memoize } from '../../../git/repository/memoize.ts'
import type { Repository } from '../../../git/repository/repository.ts'

/**
 * SHA-256 of a blob in hex, cached. The first time reads the content, as a stream unless the caller has it. `undefined`
 * if the repository has no such blob.
 */
export async function contentSha256(repo: Repository, oid: Oid, content?: Buffer): Promise<string | undefined> {
  const make = async (repo: Repository) => {
    if (content) return { hex: hash('sha256', content, 'hex') }
    const blob = await blobStream(repo, oid)
    if (!blob) return undefined
    const sum = createHash('sha256')
    for await (const chunk of blob.stream as AsyncIterable<Buffer>) sum.update(chunk)
    return { hex: sum.digest('hex') }
  }
  return (await memoize(repo, `sha256 ${oid}`, make, () => 100))?.hex
}
