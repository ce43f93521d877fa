import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncFile, syncFolder } from '../../kernel/durable.ts'
import { temporaryName } from './leftovers.ts'
import { keyMode, keyPath, keyText } from './project-key.ts'

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
    // Each is there before the folders are synced. The disk syncs what is given to it together in about the time of one.
    const files = [
      writeNew(join(temporary, 'HEAD'), `ref: refs/heads/${defaultBranch}\n`),
      writeNew(join(temporary, 'config'), bareConfig),
      writeNew(join(temporary, 'info/attributes'), ''),
      ...(key === undefined ? [] : [writeNew(keyPath(temporary), keyText(key), keyMode)]),
    ]
    await allSettled([...files, ...paths.map(syncFolder)])
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
async function allSettled(work: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(work)
  await Promise.all(work)
}

/** Writes a new file, which is there when this returns, and durable when it resolves. */
async function writeNew(path: string, text: string, mode = 0o666): Promise<void> {
  const file = openSync(path, 'wx', mode)
  try {
    writeFileSync(file, text)
    await syncFile(file)
  } finally {
    closeSync(file)
  }
}
