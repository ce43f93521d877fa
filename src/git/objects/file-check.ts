import type { Repository } from '../repository/repository.ts'
import { GitError } from '../runner/git-error.ts'
import { type NewObject, treeObject, writeObjects } from './objects.ts'
import { inScratch } from './scratch.ts'

/** A file that git itself reads, under its name and mode. */
export type FileOfGit = { readonly name: string; readonly mode: string; readonly blob: NewObject }

/** Bits of `git fsck`'s exit code: an object is malformed. Others (a missing object) cannot come from what is checked here. */
const malformed = 1

/**
 * Whether git would let such files in with a push: a `.gitmodules` may name what runs on the machine of whoever clones.
 * One `git fsck` of these files alone; none without any.
 */
export async function passChecks(repo: Repository, files: readonly FileOfGit[]): Promise<boolean> {
  if (files.length === 0) return true
  return inScratch(repo, async (scratch) => {
    const trees = files.map(({ name, mode, blob }) => treeObject([{ name, mode, oid: blob.oid }]))
    await writeObjects(scratch, [...files.map(({ blob }) => blob), ...trees])
    const { code, stderr } = await scratch.run('fsck', {
      flags: ['--strict', '--no-full', '--no-dangling', '--no-progress'],
      // Only what is in the scratch: git would look at every loose object of the repository as well.
      env: { GIT_ALTERNATE_OBJECT_DIRECTORIES: '' },
      args: trees.map(({ oid }) => oid),
      accept: [0, 1, 2, 3, 4, 5, 6, 7],
    })
    if (code !== 0 && (code & malformed) === 0) throw new GitError('fsck', code, null, stderr)
    return code === 0
  })
}
