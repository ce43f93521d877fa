import type { Oid } from '../format/oid.ts'
import { mergeBases } from '../history/ancestry.ts'
import { readTip } from '../objects/commits.ts'
import { memoize } from '../repository/memoize.ts'
import type { Repository } from '../repository/repository.ts'
import { mergeInScratch } from './merge-trees.ts'

/**
 * The tree of a merge of two commits, as `git merge` makes it, even with several merge bases; `conflict` if the changes
 * conflict or the histories are unrelated. One `merge-tree` process; none if one side contains the other. Throws if one is not
 * a commit.
 */
export async function mergeCommits(repo: Repository, ours: Oid, theirs: Oid): Promise<Oid | 'conflict'> {
  const bases = await mergeBases(repo, ours, theirs)
  if (bases.length === 0) return 'conflict'
  if (bases.includes(theirs)) return treeOf(repo, ours)
  if (bases.includes(ours)) return treeOf(repo, theirs)
  return mergeInScratch(repo, [ours, theirs])
}

const treeOf = async (repo: Repository, commit: Oid): Promise<Oid> => (await readTip(repo, commit)).tree

/** Whether two commits merge without a conflict. Stores no objects; cached. */
export async function canMerge(repo: Repository, ours: Oid, theirs: Oid): Promise<boolean> {
  const make = async (repo: Repository) => {
    const bases = await mergeBases(repo, ours, theirs)
    if (bases.length === 0) return { yes: false }
    if (bases.includes(theirs) || bases.includes(ours)) return { yes: true }
    return { yes: (await mergeInScratch(repo, [ours, theirs], { keep: false })) !== 'conflict' }
  }
  return (await memoize(repo, `merges ${ours} ${theirs}`, make, () => 50)).yes
}
