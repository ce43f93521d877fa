import type { Ctx } from '../../../api/ctx.ts'
import { storedLayers } from './queries.ts'

const page = 1000

/** Describes each layer whose blob is missing or has another size, one sentence each. Checks the blob store once for each. */
export async function checkLayers(ctx: Pick<Ctx, 'db' | 'blobs'>): Promise<string[]> {
  const problems: string[] = []
  for (let after = ''; ; ) {
    const layers = await storedLayers(ctx.db, after, page)
    if (layers.length === 0) return problems
    for (const { digest, size, stored: name, project_id } of layers) {
      const whose = `project ${project_id}: its container layer ${digest}`
      const stored = await ctx.blobs.size(name)
      if (stored === undefined) problems.push(`${whose} is missing`)
      else if (stored !== size) problems.push(`${whose} has ${stored} bytes instead of ${size}`)
    }
    after = layers.at(-1)!.digest
  }
}
