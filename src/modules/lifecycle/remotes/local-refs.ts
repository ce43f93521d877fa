import type { Oid } from '../../../git/format/oid.ts'
import type { RefName } from '../../../git/format/ref-name.ts'
import { listRefTips } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'

/** Branches and tags of a repository. */
export const localRefs = async (repo: Repository): Promise<ReadonlyMap<RefName, Oid>> =>
  new Map(
    (await Promise.all([listRefTips(repo, 'refs/heads/'), listRefTips(repo, 'refs/tags/')]))
      .flat()
      .map(({ name, oid }) => [name, oid]),
  )
