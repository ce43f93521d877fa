import type { Oid } from '../format/oid.ts'
import { objectInfo } from '../objects/cat-file.ts'
import { readCommit, readCommits } from '../objects/commits.ts'
import { openGraph } from '../objects/open-graph.ts'
import { readTag } from '../objects/tags.ts'
import type { Repository } from '../repository/repository.ts'
import { damageIn } from '../runner/damage.ts'

/** Maximum objects read one by one; with more, git is faster. */
const maxRead = 2000

/**
 * Creation times of objects in seconds: committer time of a commit, tagger time of an annotated tag. `undefined` if git should
 * answer: for other objects, or if too many are outside the commit-graph. One round trip for all that are not cached.
 */
export async function creationTimes(repo: Repository, oids: readonly Oid[]): Promise<number[] | undefined> {
  const graph = await openGraph(repo)
  const known = oids.map((oid) => {
    const position = graph === 'git' ? undefined : graph.find(oid)
    return graph === 'git' || position === undefined ? undefined : graph.seconds(position)
  })
  if (known.filter((seconds) => seconds === undefined).length > maxRead) return undefined
  const times = await Promise.all(known.map((seconds, index) => seconds ?? readTime(repo, oids[index]!)))
  return times.every((seconds) => seconds !== undefined) ? times : undefined
}

/** Objects that are lost or damaged are the oldest: git would list none because of them. */
async function readTime(repo: Repository, oid: Oid): Promise<number | undefined> {
  try {
    const commit = await readCommit(repo, oid)
    // For an annotated tag, `readCommit` returns the commit it refers to.
    if (commit?.oid === oid) return commit.committer.seconds
    const tag = await readTag(repo, oid)
    if (tag) return tag.tagger?.seconds
    return (await objectInfo(await repo.objects(), oid)) ? undefined : 0
  } catch (error) {
    if (!damageIn(error)) throw error
    return 0
  }
}

/**
 * The commits that objects refer to, with annotated tags peeled; omits objects that refer to none. `undefined` if git should
 * answer because there are too many. One round trip for all that are not cached.
 */
export async function commitsOf(repo: Repository, oids: readonly Oid[]): Promise<ReadonlyMap<Oid, Oid> | undefined> {
  const graph = await openGraph(repo)
  const commits = new Map<Oid, Oid>()
  const unknown: Oid[] = []
  for (const oid of oids) {
    if (graph !== 'git' && graph.find(oid) !== undefined) commits.set(oid, oid)
    else unknown.push(oid)
  }
  if (unknown.length > maxRead) return undefined
  for (const [index, commit] of (await readCommits(repo, unknown)).entries())
    if (commit) commits.set(unknown[index]!, commit.oid)
  return commits
}
