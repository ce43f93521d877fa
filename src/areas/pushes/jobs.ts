import { Type } from 'typebox'
import { readBlob } from '../../git/blobs.ts'
import { readCommit } from '../../git/commits.ts'
import { countCommits } from '../../git/history.ts'
import { countObjects, packRefs, repack, repositorySize, writeCommitGraph } from '../../git/maintenance.ts'
import type { Oid } from '../../git/oid.ts'
import { countLooseRefs } from '../../git/ref-files.ts'
import { branchRef } from '../../git/ref-name.ts'
import { readRef } from '../../git/refs.ts'
import type { Repository } from '../../git/repository.ts'
import { readTree } from '../../git/trees.ts'
import { job } from '../../jobs/job.ts'
import { licenseKeyOf } from '../projects/licenses.ts'
import { findProject } from '../projects/queries.ts'
import { openRepository } from '../repositories/open.ts'
import { type RepositoryFacts, saveRepositoryFacts } from './queries.ts'

/** More of any than this makes reads slow. */
const looseObjects = 2000
const packs = 20
const looseRefs = 500
const licenseBytes = 200 * 1024

/** After pushes: keeps the commit-graph fresh, packs what has become scattered, and counts what records show. */
export const refreshRepository = job({
  name: 'refresh_repository',
  input: Type.Object({ projectId: Type.Integer() }),
  key: ({ projectId }) => `refresh_repository:${projectId}`,
  queue: ({ projectId }) => `repository:${projectId}`,
  attempts: 5,
  async run({ projectId }, ctx) {
    const project = await findProject(ctx.db, null, projectId)
    if (!project) return
    const repo = openRepository(ctx, project)
    if (!(await repo.exists())) return
    const counted = await countObjects(repo)
    if (counted.looseObjects > looseObjects || counted.packs > packs) await repack(repo, 'incremental')
    if ((await countLooseRefs(repo)) > looseRefs) await packRefs(repo)
    await writeCommitGraph(repo)
    const ref = project.default_branch === null ? undefined : branchRef(project.default_branch)
    const head = ref && (await readRef(repo, ref))
    await saveRepositoryFacts(ctx.db, projectId, {
      ...(head ? await factsAt(repo, head) : noFacts),
      repositorySize: await repositorySize(repo.gitDir),
    })
  },
})

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
