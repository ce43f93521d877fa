import { countCommits } from '../../../git/history.ts'
import { repositorySize } from '../../../git/maintenance.ts'
import { branchRef } from '../../../git/ref-name.ts'
import { readRef } from '../../../git/refs.ts'
import type { Repository } from '../../../git/repository.ts'
import type { RepositoryFacts } from '../../projects/index.ts'
import { noRootFiles, rootFilesAt } from '../../projects/index.ts'

/** What records show of a repository: counts, and what lies in the root of its default branch. */
export async function repositoryFacts(repo: Repository, defaultBranch: string | null): Promise<RepositoryFacts> {
  const ref = defaultBranch === null ? undefined : branchRef(defaultBranch)
  const head = ref && (await readRef(repo, ref))
  return {
    ...(head ? await rootFilesAt(repo, head) : noRootFiles),
    commitCount: head ? await countCommits(repo, { from: [head] }) : 0,
    repositorySize: await repositorySize(repo.gitDir),
  }
}
