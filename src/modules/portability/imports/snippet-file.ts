import { readFile } from 'node:fs/promises'
import type { Ctx } from '../../../api/ctx.ts'
import { branchRef } from '../../../git/format/ref-name.ts'
import { isReadByGit, isSafePath } from '../../../git/format/safe-path.ts'
import { passChecks } from '../../../git/objects/file-check.ts'
import { commitObject, type NewObject, newObject } from '../../../git/objects/objects.ts'
import { storeObjects } from '../../../git/objects/pack.ts'
import { TreeEdit } from '../../../git/objects/tree-edit.ts'
import { updateRefs } from '../../../git/refs/update-refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { callerSignature } from '../../accounts/index.ts'
import { initialBranch } from '../../projects/index.ts'
import type { SnippetFile } from '../reference/snippets.ts'

const mode = '100644'
const longestName = 255
/** The name of a file that has none, or one that git refuses. */
const nameless = 'snippetfile1.txt'

/** Makes the first commit of a snippet in an empty repository, with one file. */
export async function commitSnippetFile(importer: Ctx, repo: Repository, { name, path }: SnippetFile): Promise<void> {
  const blob = newObject('blob', await readFile(path))
  const edit = await TreeEdit.of(repo, undefined)
  await edit.put((await isAccepted(repo, name, blob)) ? name : nameless, { mode, oid: blob.oid })
  const { tree, objects } = await edit.finish()
  const person = callerSignature(importer)
  const commit = commitObject({ tree, parents: [], author: person, committer: person, message: 'Initial commit' })
  await storeObjects(repo, [blob, ...objects, commit])
  await updateRefs(repo, [{ name: branchRef(initialBranch)!, to: commit.oid, from: 'absent' }])
}

async function isAccepted(repo: Repository, path: string, blob: NewObject): Promise<boolean> {
  if (path.trim() === '' || [...path].length > longestName || !isSafePath(path)) return false
  const name = path.slice(path.lastIndexOf('/') + 1)
  return !isReadByGit(name) || passChecks(repo, [{ name, mode, blob }])
}
