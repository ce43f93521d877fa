import type { Oid } from '../format/oid.ts'
import { mergeBases } from '../history/ancestry.ts'
import { readCommit } from '../objects/commits.ts'
import { remember } from '../repository/remember.ts'
import type { Repository } from '../repository/repository.ts'
import { mergeInScratch } from './merge-trees.ts'

/**
 * The tree of a merge of two commits, as `git merge` makes it, also where their histories crossed and they have several merge
 * bases; `conflict` when git cannot tell what it should be, or the histories have nothing in common. One `merge-tree`
 * process, and none where one side has all of the other. Throws when one is no commit.
 */
export async function mergeCommits(repo: Repository, ours: Oid, theirs: Oid): Promise<Oid | 'conflict'> {
  const bases = await mergeBases(repo, ours, theirs)
  if (bases.length === 0) return 'conflict'
  if (bases.includes(theirs)) return treeOf(repo, ours)
  if (bases.includes(ours)) return treeOf(repo, theirs)
  return mergeInScratch(repo, [ours, theirs])
}

const treeOf = async (repo: Repository, commit: Oid): Promise<Oid> => (await readCommit(repo, commit))!.tree

/** Whether two commits merge without a conflict. Leaves nothing behind, and is remembered. */
export async function canMerge(repo: Repository, ours: Oid, theirs: Oid): Promise<boolean> {
  const make = async (repo: Repository) => {
    const bases = await mergeBases(repo, ours, theirs)
    if (bases.length === 0) return { yes: false }
    if (bases.includes(theirs) || bases.includes(ours)) return { yes: true }
    return { yes: (await mergeInScratch(repo, [ours, theirs], { keep: false })) !== 'conflict' }
  }
  return (await remember(repo, `merges ${ours} ${theirs}`, make, () => 50)).yes
}
