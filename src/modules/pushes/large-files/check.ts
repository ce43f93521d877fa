import type { Ctx } from '../../../api/ctx.ts'
import { storedFiles } from './queries.ts'

const page = 1000

/**
 * Describes each large file whose blob is missing or has another size, one sentence each. Checks the blob store once
 * for each file.
 */
export async function checkLargeFiles(ctx: Pick<Ctx, 'db' | 'blobs'>): Promise<string[]> {
  const problems: string[] = []
  let after = ''
  for (;;) {
    const files = await storedFiles(ctx.db, after, page)
    if (files.length === 0) return problems
    for (const { oid, size, project_id } of files) {
      const whose = `project ${project_id}: its large file ${oid}`
      const stored = await ctx.blobs.size(oid)
      if (stored === undefined) problems.push(`${whose} is missing`)
      else if (stored !== size) problems.push(`${whose} has ${stored} bytes instead of ${size}`)
    }
    after = files.at(-1)!.oid
  }
}
