import { readCommit } from './commits.ts'
import { openGraph } from './dag/open-graph.ts'
import type { Oid } from './oid.ts'
import type { Repository } from './repository.ts'
import { readTag } from './tags.ts'

/** What is read one by one; with more, git is faster. */
const maxRead = 2000

/**
 * When what refs point to was made, in seconds: the committer's clock of a commit, the tagger's of an annotated tag. `undefined` when git
 * should be asked: about other objects, or about too many that the commit-graph does not know. One round trip for all that
 * were never read.
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

async function readTime(repo: Repository, oid: Oid): Promise<number | undefined> {
  const commit = await readCommit(repo, oid)
  // Of an annotated tag, that is the commit it stands for.
  return commit?.oid === oid ? commit.committer.seconds : (await readTag(repo, oid))?.tagger?.seconds
}
