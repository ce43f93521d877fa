import type { Ctx } from '../../../api/ctx.ts'
import { credentialOf } from '../../accounts/index.ts'
import { mayListCatalog, placeFor, type RegistryAction } from '../access/access.ts'
import { ensureRepository } from '../images/queries.ts'
import { parseScopes } from './scopes.ts'
import { type Access, type Bearer, issueToken } from './web-token.ts'

/** The action of the policy for each action of a scope. */
const actionOf: Readonly<Record<string, RegistryAction>> = {
  pull: 'pull',
  push: 'push',
  delete: 'delete',
  '*': 'delete',
}

/**
 * A token of the caller for those of the scopes that the policy grants. Undefined for anonymous callers to whom it grants none.
 * The repository of a granted push exists afterwards.
 */
export async function grantToken(ctx: Ctx, scopes: readonly string[]): Promise<string | undefined> {
  const access: Access[] = []
  for (const asked of parseScopes(scopes)) {
    const granted = await grantedOf(ctx, asked)
    if (granted.length > 0) access.push({ ...asked, actions: granted })
  }
  if (!ctx.actor && access.length === 0) return undefined
  return issueToken(
    ctx.registry.folder,
    { bearer: bearerOf(ctx), access },
    {
      username: ctx.actor?.username ?? null,
      lifetimeSeconds: ctx.settings.container_registry_token_expire_delay * 60,
    },
  )
}

async function grantedOf(ctx: Ctx, { type, name, actions }: Access): Promise<string[]> {
  if (type === 'registry')
    return name === 'catalog' && (await mayListCatalog(ctx)) ? actions.filter((each) => each === '*') : []
  if (type !== 'repository') return []
  const found = await placeFor(ctx, name)
  if (!found) return []
  const granted = actions.filter((action) => {
    const needed = actionOf[action]
    return needed !== undefined && found.may(needed)
  })
  const { project, name: below } = found.place
  if (granted.includes('push')) await ctx.transaction((tx) => ensureRepository(tx, project.id, below))
  return granted
}

function bearerOf({ actor }: Ctx): Bearer {
  if (!actor) return undefined
  return actor.deployToken ? { deployTokenId: actor.deployToken.id } : credentialOf(actor)
}
