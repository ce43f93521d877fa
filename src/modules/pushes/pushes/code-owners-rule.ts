import type { Oid } from '../../../git/format/oid.ts'
import { branchName } from '../../../git/format/ref-name.ts'
import { changesBetweenTrees } from '../../../git/history/changes.ts'
import { readBlob } from '../../../git/objects/blobs.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import { findEntry } from '../../../git/objects/trees.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { CodeOwners } from './code-owners.ts'
import { onEach } from './rule.ts'

/** Locations of the file; the first that exists counts. */
const places = ['CODEOWNERS', 'docs/CODEOWNERS', '.gitlab/CODEOWNERS']
const maxBytes = 1024 * 1024

/** Files with code owners, according to the branch before the push, change through merge requests only. */
export const codeOwnersRule = onEach(async ({ name: ref, from, to }, { protections, mode, ...facts }) => {
  const name = branchName(ref)
  if (name === undefined || from === null || to === null || mode.merges) return undefined
  if (!protections.covering('branch', name).some((rule) => rule.code_owner_approval_required)) return undefined
  const objects = await facts.objects()
  const [before, after] = await Promise.all([readCommit(objects, from), readCommit(objects, to)])
  const owners = before && (await readCodeOwners(objects, before.oid))
  if (!before || !after || !owners || owners.isEmpty) return undefined
  const { files, truncated } = await changesBetweenTrees(objects, before.tree, after.tree)
  const paths = new Set(files.flatMap(({ oldPath, newPath }) => [oldPath, newPath]))
  return truncated || (await owners.ownsAny(paths))
    ? 'Pushes to protected branches that contain changes to files that match CODEOWNERS are disabled for this project. Please submit these changes via a merge request.'
    : undefined
})

async function readCodeOwners(objects: Repository, commit: Oid): Promise<CodeOwners | undefined> {
  for (const place of places) {
    const entry = await findEntry(objects, commit, place)
    if (entry?.type !== 'blob') continue
    // A CODEOWNERS file that is too large to read protects all files rather than none.
    if ((entry.sizeBytes ?? 0) > maxBytes) return CodeOwners.ofAllFiles()
    const blob = await readBlob(objects, entry.oid, { maxBytes })
    if (blob) return new CodeOwners(blob.content.toString('utf8'))
  }
  return undefined
}
