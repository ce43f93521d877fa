import type { Ctx } from '../../../api/ctx.ts'
import { createFromPush, type Plan } from '../../lifecycle/index.ts'
import { type Grant, isForNew, type LfsAccess, lfsAccess, type Operation } from '../../pushes/index.ts'
import { type GitTransport, gitAccess } from './access.ts'

/**
 * The project that an upload to this path creates, because it has none and the push after the upload would create it. Throws if
 * that project cannot be created.
 */
async function planForUpload(
  ctx: Ctx,
  path: string,
  operation: Operation,
  access: LfsAccess,
  transport: GitTransport,
): Promise<Plan | undefined> {
  if (operation !== 'upload' || !('refused' in access) || access.refused !== 404) return undefined
  const push = await gitAccess(ctx, path, 'git-receive-pack', transport)
  return 'plan' in push ? push.plan : undefined
}

/** As `lfsAccess` for files that the client names. The first ones for a path without a project create it. */
export async function lfsAccessForFiles(
  ctx: Ctx,
  path: string,
  { operation, count }: { operation: Operation; count: number },
  grant: Grant | undefined,
): Promise<LfsAccess> {
  const access = await lfsAccess(ctx, path, operation, grant)
  if (count === 0 || (grant && !isForNew(grant, path))) return access
  // Only SSH has credentials for new paths.
  const plan = await planForUpload(ctx, path, operation, access, grant ? 'ssh' : 'http')
  if (!plan) return access
  await createFromPush(ctx, plan)
  return lfsAccess(ctx, path, operation, grant)
}

/** As `lfsAccess` for a client that will use a credential. `new`: the project does not exist, and the first files create it. */
export async function lfsAccessForCredential(
  ctx: Ctx,
  path: string,
  operation: Operation,
): Promise<LfsAccess | { new: true }> {
  const access = await lfsAccess(ctx, path, operation, undefined)
  return (await planForUpload(ctx, path, operation, access, 'ssh')) ? { new: true } : access
}
