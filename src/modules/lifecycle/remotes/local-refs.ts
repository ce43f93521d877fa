import type { Oid } from '../../../git/format/oid.ts'
import type { RefName } from '../../../git/format/ref-name.ts'
import { listRefTips } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { damaged, damageIn } from '../../../git/runner/damage.ts'
import { RemoteRefusal } from './refusal.ts'

/**
 * Branches and tags of a repository. Throws `RemoteRefusal` if files of some are damaged: what is not in the list is deleted at the other side.
 */
export async function localRefs(repo: Repository): Promise<ReadonlyMap<RefName, Oid>> {
  const lists = ['refs/heads/', 'refs/tags/'].map((below) => listRefTips(repo, below, { broken: 'fail' }))
  const found = await Promise.all(lists).catch((error: unknown) => {
    throw damageIn(error) ? new RemoteRefusal(damaged) : error
  })
  return new Map(found.flat().map(({ name, oid }) => [name, oid]))
}
