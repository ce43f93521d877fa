import type { Oid } from '../../../git/format/oid.ts'
import { listCommitIds } from '../../../git/history/history.ts'
import { lineCounts } from '../../../git/history/line-counts.ts'
import { commitsInTurn } from '../../../git/objects/commits.ts'
import { memoize } from '../../../git/repository/memoize.ts'
import type { Repository } from '../../../git/repository/repository.ts'

export type ContributorRow = {
  readonly name: string
  readonly email: string
  readonly commits: number
  readonly additions: number
  readonly deletions: number
}

/** Maximum commits that are counted: the newest, without merges. */
const maxCommits = 2000

/** Authors of the newest commits reachable from `tip`, by exact address, newest first. Cached. */
export async function listContributors(repo: Repository, tip: Oid): Promise<readonly ContributorRow[]> {
  const found = await memoize(
    repo,
    `contributors ${tip}`,
    async (repo) => {
      const oids = await listCommitIds(repo, { from: [tip], merges: 'none' }, { limit: maxCommits })
      const byEmail = new Map<string, { -readonly [Key in keyof ContributorRow]: ContributorRow[Key] }>()
      const lines = await lineCounts(repo, oids)
      for await (const commit of commitsInTurn(repo, oids)) {
        if (!commit) continue
        const { oid, author } = commit
        const row = byEmail.get(author.email) ?? {
          name: author.name,
          email: author.email,
          commits: 0,
          additions: 0,
          deletions: 0,
        }
        row.commits++
        row.additions += lines.get(oid)?.additions ?? 0
        row.deletions += lines.get(oid)?.deletions ?? 0
        byEmail.set(author.email, row)
      }
      return [...byEmail.values()]
    },
    (rows) => 200 * rows.length,
  )
  return found
}

/** Sorted; ties stay newest first. Compares names and addresses by code unit. */
export function sortContributors(
  rows: readonly ContributorRow[],
  by: 'name' | 'email' | 'commits',
  direction: 'asc' | 'desc',
): ContributorRow[] {
  const sign = direction === 'asc' ? 1 : -1
  return rows.toSorted((a, b) => (a[by] < b[by] ? -sign : a[by] > b[by] ? sign : 0))
}
