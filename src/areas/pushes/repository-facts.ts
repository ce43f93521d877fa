import { readBlob } from '../../git/blobs.ts'
import { readCommit } from '../../git/commits.ts'
import { countCommits } from '../../git/history.ts'
import { repositorySize } from '../../git/maintenance.ts'
import type { Oid } from '../../git/oid.ts'
import { branchRef } from '../../git/ref-name.ts'
import { readRef } from '../../git/refs.ts'
import type { Repository } from '../../git/repository.ts'
import { readTree } from '../../git/trees.ts'
import { licenseKeyOf } from '../projects/licenses.ts'
import type { RepositoryFacts } from './queries.ts'

const licenseBytes = 200 * 1024

/** What records show of a repository: counts, and what lies in the root of its default branch. */
export async function repositoryFacts(repo: Repository, defaultBranch: string | null): Promise<RepositoryFacts> {
  const ref = defaultBranch === null ? undefined : branchRef(defaultBranch)
  const head = ref && (await readRef(repo, ref))
  return { ...(head ? await factsAt(repo, head) : noFacts), repositorySize: await repositorySize(repo.gitDir) }
}

const noFacts = { commitCount: 0, readmePath: null, licensePath: null, licenseKey: null }

async function factsAt(repo: Repository, head: Oid): Promise<Omit<RepositoryFacts, 'repositorySize'>> {
  const commit = await readCommit(repo, head)
  const tree = commit && (await readTree(repo, commit.tree))
  const files = (tree ?? []).filter(({ type }) => type === 'blob')
  const license = files.find(({ name }) => /^(un)?licen[sc]e|^copying/i.test(name))
  const text = license && (await readBlob(repo, license.oid, { maxBytes: licenseBytes }))?.content.toString('utf8')
  return {
    commitCount: await countCommits(repo, { from: [head] }),
    readmePath: readmeAmong(files.map(({ name }) => name)) ?? null,
    licensePath: license?.name ?? null,
    licenseKey: text === undefined ? null : licenseKeyOf(text),
  }
}

const rendered = /\.(md|markdown|mdown|mkdn?|adoc|asciidoc|ad|rst|org|creole|textile|mediawiki|wiki|rdoc|pod)$/i

/** Files named `readme`, in any case; those a page can render first. */
const readmeAmong = (names: readonly string[]): string | undefined => {
  const candidates = names.filter((name) => /^readme(\..*)?$/i.test(name))
  return candidates.find((name) => rendered.test(name)) ?? candidates[0]
}
