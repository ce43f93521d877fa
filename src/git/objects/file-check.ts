import type { Repository } from '../repository/repository.ts'
import { GitError } from '../runner/git-error.ts'
import { type NewObject, treeObject, writeObjects } from './objects.ts'
import { inScratch } from './scratch.ts'

/** A file that git itself interprets, with its name and mode. */
export type FileOfGit = { readonly name: string; readonly mode: string; readonly blob: NewObject }

/**
 * Bit of `git fsck`'s exit code for a malformed object. Other bits, such as missing objects, cannot result from these checks.
 */
const malformed = 1

/**
 * Whether git would accept such files in a push: a malicious `.gitmodules` can run code on the machine of the user who clones.
 * One `git fsck` of these files alone; no process without files.
 */
export async function passChecks(repo: Repository, files: readonly FileOfGit[]): Promise<boolean> {
  if (files.length === 0) return true
  return inScratch(repo, async (scratch) => {
    const trees = files.map(({ name, mode, blob }) => treeObject([{ name, mode, oid: blob.oid }]))
    await writeObjects(scratch, [...files.map(({ blob }) => blob), ...trees])
    const { code, stderr } = await scratch.run('fsck', {
      flags: ['--strict', '--no-full', '--no-dangling', '--no-progress'],
      // Only the temporary objects; git would otherwise check every loose object of the repository as well.
      env: { GIT_ALTERNATE_OBJECT_DIRECTORIES: '' },
      args: trees.map(({ oid }) => oid),
      accept: [0, 1, 2, 3, 4, 5, 6, 7],
    })
    if (code !== 0 && (code & malformed) === 0) throw new GitError('fsck', code, null, stderr)
    return code === 0
  })
}
