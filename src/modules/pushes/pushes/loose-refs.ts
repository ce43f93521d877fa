import { countLooseRefs } from '../../../git/refs/ref-files.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { packRefs } from '../../../git/transfer/maintenance.ts'

/** More loose refs make listing refs slow. */
const maxLooseRefs = 500

/** Packs the refs of a repository with many loose ones: short work, unlike packing objects. */
export async function packManyRefs(repo: Repository): Promise<void> {
  if ((await countLooseRefs(repo)) > maxLooseRefs) await packRefs(repo)
}
