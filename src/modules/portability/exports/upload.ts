import type { Ctx } from '../../../api/ctx.ts'
import { type GuardRules, OutboundFailure, sendOutbound } from '../../instance/index.ts'
import { blobBody } from './blob-entry.ts'
import type { FinishedRow } from './queries.ts'

/** Allowed addresses of uploads. */
export const uploadRules: GuardRules = { purpose: 'import', schemes: ['http', 'https'] }

const timeoutMs = 3 * 60 * 60_000

/** Uploads an archive to a URL. Returns the reason of a failure, without the URL. */
export async function uploadArchive(
  ctx: Ctx,
  { digest, size }: FinishedRow,
  { url, method }: { readonly url: string; readonly method: 'PUT' | 'POST' },
): Promise<string | undefined> {
  try {
    const { status, reason } = await sendOutbound(ctx, {
      url,
      method,
      rules: uploadRules,
      headers: {},
      body: {
        sizeBytes: size,
        open: () => blobBody(ctx, digest),
      },
      verifiesTls: true,
      timeoutMs,
    })
    return status >= 200 && status < 300 ? undefined : `Error uploading the project. Code ${status}: ${reason}`
  } catch (error) {
    if (error instanceof OutboundFailure) return `Error uploading the project. ${error.message}`
    throw error
  }
}
