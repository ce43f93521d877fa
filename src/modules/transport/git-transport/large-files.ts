import type { Ctx } from '../../../api/ctx.ts'
import { createFromPush } from '../../lifecycle/index.ts'
import { type GitTransport, gitAccess } from './access.ts'

/**
 * Creates the project that a push to this path, which has no project, would create: clients upload large files before they push.
 * False if a push would create none. Throws if the project cannot be created.
 */
export async function createForUpload(ctx: Ctx, path: string, transport: GitTransport): Promise<boolean> {
  const access = await gitAccess(ctx, path, 'git-receive-pack', transport)
  if (!('plan' in access)) return false
  await createFromPush(ctx, access.plan)
  return true
}
