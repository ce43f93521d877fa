import { type Oid, parseOid } from '../format/oid.ts'
import { commitObject, type NewObject, writeObjects } from '../objects/objects.ts'
import { inScratch, keepObjects } from '../objects/scratch.ts'
import type { Repository } from '../repository/repository.ts'

const newline = '\n'

const serviceIdentity = { name: 'Stithy', email: 'stithy@localhost', at: new Date(0) }

/**
 * Three-way merge of trees: `ours` with the changes from `base` to `theirs`, following renames; `conflict` if they conflict.
 * One `merge-tree` process unless only one side changed. A conflict leaves no objects behind.
 */
export async function mergeTrees(
  repo: Repository,
  { base, ours, theirs }: { base: Oid; ours: Oid; theirs: Oid },
): Promise<Oid | 'conflict'> {
  if (base === theirs || ours === theirs) return ours
  if (base === ours) return theirs
  // Git 2.39 finds the merge base only by history: these temporary commits have the intended one.
  const ancestor = commitOf(base, [])
  const [left, right] = [commitOf(ours, [ancestor.oid]), commitOf(theirs, [ancestor.oid])]
  return mergeInScratch(repo, [left.oid, right.oid], { with: [ancestor, left, right] })
}

const commitOf = (tree: Oid, parents: readonly Oid[]) =>
  commitObject({ tree, parents, author: serviceIdentity, committer: serviceIdentity, message: '' })

/**
 * Merges two commits by their history and returns the tree. Throws `unavailable` if an object is lost that git needs. `with` are temporary objects, available during the merge. With
 * `keep: false` the tree is not stored, and the result tells only that there is no conflict.
 */
export const mergeInScratch = (
  repo: Repository,
  sides: readonly [Oid, Oid],
  { with: made = [], keep = true }: { with?: readonly NewObject[]; keep?: boolean } = {},
): Promise<Oid | 'conflict'> =>
  inScratch(repo, async (scratch) => {
    if (made.length > 0) await writeObjects(scratch, made)
    const { stdout, code } = await scratch.run('merge-tree', {
      flags: ['--write-tree', '--no-messages', '--name-only'],
      args: sides,
      accept: [0, 1],
      // Git before 2.44 takes the tree of a commit for empty if it cannot read it, and removes all files on that side.
      strict: true,
    })
    const tree = parseOid(stdout.toString('latin1', 0, stdout.indexOf(newline)))
    // It also ends with 1 if a side is not a commit; a conflict has a tree, too.
    if (!tree) throw repo.damage(`commit ${sides.join(' or ')}`)
    if (code === 1) return 'conflict'
    if (keep) await keepObjects(repo, scratch, new Set(made.map(({ oid }) => oid)))
    return tree
  })
