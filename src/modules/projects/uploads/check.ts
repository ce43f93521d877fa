import type { Ctx } from '../../../api/ctx.ts'
import { storedUploads } from './queries.ts'

const page = 1000

/**
 * Describes each upload whose blob is missing or truncated, one sentence each. Checks the blob store once for each
 * upload.
 */
export async function checkUploads(ctx: Pick<Ctx, 'db' | 'blobs'>): Promise<string[]> {
  const problems: string[] = []
  let after = 0
  for (;;) {
    const uploads = await storedUploads(ctx.db, after, page)
    if (uploads.length === 0) return problems
    for (const { id, project_id, digest, size } of uploads) {
      const found = await ctx.blobs.size(digest)
      if (found === undefined) problems.push(`project ${project_id}: its upload ${id} is missing`)
      else if (found !== size)
        problems.push(`project ${project_id}: its upload ${id} has ${found} bytes instead of ${size}`)
    }
    after = uploads.at(-1)!.id
  }
}
