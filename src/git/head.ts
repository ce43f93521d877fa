import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../kernel/failure.ts'
import { branchName, branchRef, parseRefName } from './ref-name.ts'
import type { Repository } from './repository.ts'

/**
 * The branch that `HEAD` names, whether it exists yet or not; `undefined` for a repository that was never made, or whose `HEAD` is
 * detached. Reads one small file, no process.
 */
export async function defaultBranch(repo: Repository): Promise<string | undefined> {
  const head = await readFile(join(repo.gitDir, 'HEAD'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const ref = parseRefName(/^ref: (.*?)\s*$/.exec(head)?.[1] ?? '')
  return ref && branchName(ref)
}

/** Points `HEAD` at a branch, which need not exist. One process. Throws `Failure('invalid')` for what is no branch name. */
export async function setDefaultBranch(repo: Repository, name: string): Promise<void> {
  const ref = branchRef(name)
  if (!ref) throw new Failure('invalid', 'The default branch is not a valid branch name')
  await repo.run('symbolic-ref', { args: ['HEAD', ref] })
}
