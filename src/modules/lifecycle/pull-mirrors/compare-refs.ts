import type { Oid } from '../../../git/format/oid.ts'
import type { RefChange } from '../../../git/format/ref-change.ts'
import { branchName, type RefName } from '../../../git/format/ref-name.ts'
import { isAncestor } from '../../../git/history/ancestry.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import type { Repository } from '../../../git/repository/repository.ts'

/** A ref with commits, or a tag, that the source does not have. */
export type Divergence = { readonly name: RefName }

/**
 * The changes that make local refs equal to those of the source. A branch that lacks commits of the source only moves forward;
 * with `overwrite` every other difference is a change, too. Refs that the source does not have stay.
 */
export async function compareRefs(
  objects: Repository,
  local: ReadonlyMap<RefName, Oid>,
  source: readonly (readonly [RefName, Oid])[],
  { overwrite }: { readonly overwrite: boolean },
): Promise<{ readonly changes: readonly RefChange[]; readonly diverged: readonly Divergence[] }> {
  const changes: RefChange[] = []
  const diverged: Divergence[] = []
  for (const [name, to] of source) {
    const from = local.get(name) ?? null
    if (from === to) continue
    if (from === null || overwrite || (await continues(objects, name, from, to))) changes.push({ name, from, to })
    else diverged.push({ name })
  }
  return { changes, diverged }
}

async function continues(objects: Repository, name: RefName, from: Oid, to: Oid): Promise<boolean> {
  if (branchName(name) === undefined) return false
  const [before, after] = await Promise.all([readCommit(objects, from), readCommit(objects, to)])
  return before !== undefined && after !== undefined && isAncestor(objects, from, to)
}
