import { branchRef } from '../../../git/format/ref-name.ts'
import { countCommits } from '../../../git/history/history.ts'
import { readRef } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { repositorySize } from '../../../git/transfer/maintenance.ts'
import type { RepositoryFacts } from '../../projects/index.ts'
import { noRootFiles, rootFilesAt } from '../../projects/index.ts'

/** Facts of a repository that records show: counts, and files in the root of its default branch. */
export async function repositoryFacts(repo: Repository, defaultBranch: string | null): Promise<RepositoryFacts> {
  const ref = defaultBranch === null ? undefined : branchRef(defaultBranch)
  const head = ref && (await readRef(repo, ref))
  return {
    ...(head ? await rootFilesAt(repo, head) : noRootFiles),
    commitCount: head ? await countCommits(repo, { from: [head] }) : 0,
    repositorySize: await repositorySize(repo.gitDir),
  }
}
