import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { PortableRecord } from '../../../db/portable/relation.ts'
import { Failure } from '../../../kernel/failure.ts'
import { acceptAddress } from '../hooks/address.ts'
import { requireBranchFilter } from '../hooks/branch-filter.ts'
import { urlPurpose } from '../hooks/purpose.ts'
import { nextHookId, untilChanged } from '../hooks/queries.ts'

/** Nothing waits for DNS in a transaction: the address is checked before each request anyway. */
const unresolved = async (): Promise<readonly string[]> => []

/** What the record of a hook lacks to be stored; undefined if no such hook may be created. */
export async function supplyHook(ctx: Ctx, tx: Tx, record: PortableRecord): Promise<PortableRecord | undefined> {
  try {
    requireBranchFilter(String(record['branch_filter']))
    const address = await acceptAddress(ctx, 'project', String(record['url']), unresolved)
    const id = await nextHookId(tx)
    return {
      ...record,
      id,
      url: address.shown,
      sealed_url: ctx.secrets.seal(address.whole, urlPurpose(id)),
      host: address.host,
      disabled_until: untilChanged,
    }
  } catch (error) {
    if (error instanceof Failure && error.kind === 'unprocessable') return undefined
    throw error
  }
}
