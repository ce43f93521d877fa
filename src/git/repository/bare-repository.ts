import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncFolder, syncTree } from '../../kernel/durable.ts'
import { temporaryName } from './leftovers.ts'
import { writeKey } from './project-key.ts'

const config = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
\tlogAllRefUpdates = false
`

export type NewRepository = {
  readonly defaultBranch: string
  /** The key of the project that it belongs to. Without it, no project reads the repository. */
  readonly key?: string
}

/**
 * Makes what `git init --bare` makes, without its samples, in about a millisecond and without a process. Built beside its
 * place and renamed, so that readers see all of it or nothing. False when something was there already, which is left alone.
 */
export async function createBareRepository(gitDir: string, { defaultBranch, key }: NewRepository): Promise<boolean> {
  const temporary = temporaryName(gitDir, 'new')
  try {
    for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info']) {
      await mkdir(join(temporary, folder), { recursive: true })
    }
    await writeDurably(join(temporary, 'HEAD'), `ref: refs/heads/${defaultBranch}\n`)
    await writeDurably(join(temporary, 'config'), config)
    await writeDurably(join(temporary, 'info/attributes'), '')
    if (key !== undefined) await writeKey(temporary, key)
    await syncTree(temporary)
    // A rename onto a folder that holds something fails: of two racing makers, one wins and the other sees its work.
    await rename(temporary, gitDir)
    await syncFolder(dirname(gitDir))
    return true
  } catch (error) {
    await rm(temporary, { recursive: true, force: true })
    if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}

async function writeDurably(path: string, text: string) {
  await using file = await open(path, 'w')
  await file.writeFile(text)
  await file.sync()
}
