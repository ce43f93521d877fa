import { commitObject, writeObjects } from './objects.ts'
import type { Oid } from './oid.ts'
import type { Repository } from './repository.ts'
import { inScratch, keepObjects } from './scratch.ts'

const nobody = { name: 'Stithy', email: 'stithy@localhost', at: new Date(0) }

/**
 * The tree of `ours` with the changes from `base` to `theirs`, renames followed; `conflict` when git cannot tell what
 * it should be. One `merge-tree` process unless only one side changed. What a conflict leaves behind is removed.
 */
export async function mergeTrees(
  repo: Repository,
  { base, ours, theirs }: { base: Oid; ours: Oid; theirs: Oid },
): Promise<Oid | 'conflict'> {
  if (base === theirs || ours === theirs) return ours
  if (base === ours) return theirs
  return inScratch(repo, async (scratch) => {
    // Git 2.39 finds the base by history alone: these commits have the one it is to find.
    const ancestor = commitOf(base, [])
    const sides = [commitOf(ours, [ancestor.oid]), commitOf(theirs, [ancestor.oid])]
    const made = [ancestor, ...sides]
    await writeObjects(scratch, made)
    const { stdout, code } = await scratch.run('merge-tree', {
      flags: ['--write-tree', '--no-messages', '--name-only'],
      args: sides.map(({ oid }) => oid),
      accept: [0, 1],
    })
    if (code === 1) return 'conflict'
    await keepObjects(repo, scratch, new Set(made.map(({ oid }) => oid)))
    return stdout.toString('latin1').split('\n')[0] as Oid
  })
}

const commitOf = (tree: Oid, parents: readonly Oid[]) =>
  commitObject({ tree, parents, author: nobody, committer: nobody, message: '' })
