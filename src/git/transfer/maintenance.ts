import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder, syncTree } from '../../kernel/durable.ts'
import { Failure } from '../../kernel/failure.ts'
import type { Repository } from '../repository/repository.ts'
import { settingsEnv } from '../runner/environment.ts'

const long = {
  lane: 'transfer',
  background: true,
  timeoutMs: 6 * 60 * 60_000,
  // One processor at a time, however willing to give way: whoever is woken on a busy one waits for its turn to end.
  env: settingsEnv([['pack.threads', '1']]),
} as const

/**
 * Writes what git needs to walk history fast, adding to what is there: after pushes, in a job. One process, 0.6-0.9 s
 * for the first 20,000 commits, little for a few more; `anew` forgets commits that are gone. A repository that does not exist is left alone; so below.
 */
export async function writeCommitGraph(repo: Repository, { anew = false } = {}): Promise<void> {
  if (!(await repo.exists())) return
  await repo.run('commit-graph write', {
    flags: ['--reachable', '--changed-paths', anew ? '--split=replace' : '--split', '--no-progress'],
    ...long,
  })
}

/** Moves loose refs into one file, which is faster to list. Durable. One process; readers and writers go on. */
export async function packRefs(repo: Repository): Promise<void> {
  if (!(await repo.exists())) return
  await repo.run('pack-refs', { flags: ['--all', '--prune'], ...long })
  await syncFolder(repo.gitDir)
  await syncTree(join(repo.gitDir, 'refs'))
}

/**
 * Packs objects: `incremental` joins loose ones and small packs into few of growing size; `full` makes one pack with a bitmap (unless without), for fast clones, and
 * keeps unreachable objects loose, for a later prune. One process, minutes for a large repository; readers and writers go on.
 */
export async function repack(repo: Repository, kind: 'incremental' | 'full', { bitmap = true } = {}): Promise<void> {
  if (!(await repo.exists())) return
  const flags =
    kind === 'full'
      ? (['-A', '-d', '-q', '-l', bitmap ? '--write-bitmap-index' : '--no-write-bitmap-index'] as const)
      : (['-d', '-q', '-l', '--geometric=2', '--no-write-bitmap-index'] as const)
  const packs = join(repo.objectDir, 'pack')
  const unfinishedBefore = await unfinishedPacks(packs)
  try {
    await repo.run('repack', { flags, ...long })
  } catch (error) {
    // Git leaves what it has of the pack, which may be all the room that there was.
    if (error instanceof Failure && error.kind === 'storage_full')
      for (const name of await unfinishedPacks(packs))
        if (!unfinishedBefore.includes(name)) await rm(join(packs, name), { force: true })
    throw error
  }
  await syncFolder(packs)
}

const unfinishedPacks = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.startsWith('tmp_pack_'))

/** Deletes unreachable loose objects older than `before`. Leave days: a push in progress is not reachable either. */
export async function prune(repo: Repository, { before }: { before: Date }): Promise<void> {
  if (await repo.exists()) await repo.run('prune', { flags: [`--expire=${before.toISOString()}`], ...long })
}

/** What is wrong with a repository, a line of git's for each; empty when nothing is. Reads every object: one process. */
export async function fsck(repo: Repository): Promise<string[]> {
  const { stdout, stderr, code } = await repo.run('fsck', {
    flags: ['--full', '--strict', '--no-dangling', '--no-progress'],
    accept: [0, ...Array.from({ length: 31 }, (_, index) => index + 1), 128],
    ...long,
  })
  const lines = `${stdout.toString('utf8')}\n${stderr}`
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('notice: '))
  return code === 0 ? lines.filter((line) => !line.startsWith('warning')) : lines
}

/** Bytes of all files below `gitDir`; 0 when there is no such directory. Walks the file system, no process. */
export async function repositorySize(gitDir: string): Promise<number> {
  const entries = await readdir(gitDir, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    // Packs and temporary files come and go while we look.
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })
  let total = 0
  for (const entry of entries) {
    const path = join(gitDir, entry.name)
    if (entry.isDirectory()) total += await repositorySize(path)
    else
      total += await lstat(path).then(
        (found) => found.size,
        () => 0,
      )
  }
  return total
}
