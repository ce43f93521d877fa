import { mkdirSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncFolder, syncFolders } from '../../kernel/durable.ts'
import { temporaryName } from './leftovers.ts'
import { writeKey } from './project-key.ts'

/** The config of a repository. Everything else is set for each command (`git/runner/environment.ts`). */
export const bareConfig: string = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
\tlogAllRefUpdates = false
`

/** Each after its parent. */
const folders = ['', 'objects', 'objects/info', 'objects/pack', 'refs', 'refs/heads', 'refs/tags', 'info']

export type NewRepository = {
  readonly defaultBranch: string
  /** Key of the project that owns the repository. Without it, no project reads the repository. */
  readonly key?: string
}

/**
 * Creates the files of `git init --bare`, without its samples, in milliseconds and without a process. Builds them in a
 * temporary folder and renames that, so that readers see all or nothing. False, without any change, if the path exists.
 */
export async function createBareRepository(gitDir: string, { defaultBranch, key }: NewRepository): Promise<boolean> {
  const temporary = temporaryName(gitDir, 'new')
  try {
    const paths = folders.map((folder) => join(temporary, folder))
    // Each takes less time than passing it to another thread.
    for (const path of paths) mkdirSync(path)
    // The disk syncs files that are given to it together in about the time of one.
    await allSettled([
      writeDurably(join(temporary, 'HEAD'), `ref: refs/heads/${defaultBranch}\n`),
      writeDurably(join(temporary, 'config'), bareConfig),
      writeDurably(join(temporary, 'info/attributes'), ''),
      key === undefined ? undefined : writeKey(temporary, key),
    ])
    await syncFolders(paths)
    // Renaming onto a non-empty folder fails: of two concurrent calls, one succeeds and the other finds the result.
    await rename(temporary, gitDir)
    await syncFolder(dirname(gitDir))
    return true
  } catch (error) {
    await rm(temporary, { recursive: true, force: true })
    if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}

/** Like `Promise.all`, but waits for all of them before it fails: what they made can then be removed. */
async function allSettled(work: readonly (Promise<unknown> | undefined)[]): Promise<void> {
  await Promise.allSettled(work)
  await Promise.all(work)
}

async function writeDurably(path: string, text: string) {
  await using file = await open(path, 'w')
  await file.writeFile(text)
  await file.sync()
}
