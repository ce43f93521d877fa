import type { Oid } from '../format/oid.ts'
import { listCommitIds } from '../history/history.ts'
import { type Commit, readTip, treeBefore } from '../objects/commits.ts'
import { commitObject, emptyTreeFor, type NewObject, type NewSignature } from '../objects/objects.ts'
import { storeObjects } from '../objects/pack.ts'
import { writtenAs } from '../objects/signature.ts'
import type { Repository } from '../repository/repository.ts'
import { mergeTrees } from './merge-trees.ts'

/** Maximum commits of one rebase. */
const maxCommits = 5000
/** Bytes of new commits that are stored together: a message may have megabytes. */
const storedBytes = 16 * 1024 * 1024

/**
 * Rebases the commits of `head` that `onto` lacks, as `git rebase` does: oldest first, with their authors, without merges and
 * without commits that became empty. Commits already on top of `onto` stay unchanged. Returns the last commit; `conflict` if
 * one cannot be applied, or if there are too many. Moves no ref. One `merge-tree` process per commit whose tree must be merged.
 */
export async function rebaseCommits(
  repo: Repository,
  { head, onto, committer }: { head: Oid; onto: Oid; committer: NewSignature },
): Promise<Oid | 'conflict'> {
  const range = { from: [head], excluding: [onto], merges: 'none' } as const
  const oids = await listCommitIds(repo, range, { order: 'topo', limit: maxCommits + 1 })
  if (oids.length > maxCommits) return 'conflict'
  const made: NewObject[] = []
  let bytes = 0
  let tip: Pick<Commit, 'oid' | 'tree'> = await readTip(repo, onto)
  for (const oid of oids.reverse()) {
    const commit = await readTip(repo, oid)
    if (commit.parents[0] === tip.oid) {
      tip = commit
      continue
    }
    const before = await treeBefore(repo, commit)
    const tree = await mergeTrees(repo, { base: before, ours: tip.tree, theirs: commit.tree })
    if (tree === 'conflict') return 'conflict'
    if (tree === tip.tree && commit.tree !== before) continue
    const object = commitObject({
      tree,
      parents: [tip.oid],
      author: writtenAs(commit.author),
      committer,
      message: commit.message,
    })
    made.push(...emptyTreeFor(tree), object)
    tip = { oid: object.oid, tree }
    bytes += object.content.length
    if (bytes > storedBytes) {
      await storeObjects(repo, made.splice(0))
      bytes = 0
    }
  }
  await storeObjects(repo, made)
  return tip.oid
}
