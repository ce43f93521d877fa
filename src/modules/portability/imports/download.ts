import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Ctx } from '../../../api/ctx.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import { type GuardRules, OutboundFailure, sendOutbound } from '../../instance/index.ts'
import { ArchiveRefusal } from '../archive/refusal.ts'

/** Allowed addresses of archives. */
export const downloadRules: GuardRules = { purpose: 'import', schemes: ['http', 'https'] }

/** Binds the encrypted URL of an archive to its import. */
export const downloadPurpose = (importId: number): string => `archive address of import ${importId}`

const timeoutMs = 3 * 60 * 60_000

/** Stores the archive at a URL. Throws `ArchiveRefusal` with a reason that does not contain the URL. */
export async function downloadArchive(ctx: Ctx, url: string, maxBytes: number): Promise<Digest> {
  let digest: Digest | undefined
  try {
    const { status, reason } = await sendOutbound(ctx, {
      url,
      method: 'GET',
      rules: downloadRules,
      headers: {},
      verifiesTls: true,
      timeoutMs,
      async receive(body) {
        const limited = limiting(maxBytes)
        const [stored] = await Promise.all([ctx.blobs.put(limited), pipeline(body, limited)])
        digest = stored.digest
      },
    })
    if (digest === undefined) throw new ArchiveRefusal(`The archive could not be downloaded. Code ${status}: ${reason}`)
    return digest
  } catch (error) {
    if (error instanceof OutboundFailure)
      throw new ArchiveRefusal(`The archive could not be downloaded. ${error.message}`)
    throw error
  }
}

function limiting(maxBytes: number): Transform {
  let bytes = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > maxBytes) done(new OutboundFailure('It is larger than the limit'))
      else done(null, chunk)
    },
  })
}
