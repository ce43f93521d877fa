import { type Dirent, lstatSync, readdirSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder, syncTree } from '../../kernel/durable.ts'
import { Failure } from '../../kernel/failure.ts'
import { missingAs, namesIn } from '../../kernel/missing.ts'
import { Turns } from '../../kernel/turns.ts'
import { isInTransfer } from '../refs/update-refs.ts'
import { repairIndexes } from '../repository/damaged-indexes.ts'
import { isDerivedFile } from '../repository/derived-files.ts'
import { isUnfinished } from '../repository/leftovers.ts'
import type { Repository } from '../repository/repository.ts'
import { removeMaintenanceLocks, removePackedLockOfKilled, removeStaleLocks } from '../repository/stale-locks.ts'
import { GitError } from '../runner/git-error.ts'
import { longRun } from '../runner/long-run.ts'

/**
 * Updates the commit-graph; a job calls it after pushes, if `needsGraph`. One process, 0.6-0.9 s for the first 20,000 commits, little for a few
 * more; `anew` drops commits that no longer exist. No-op if the repository does not exist, like the functions below.
 */
export async function writeCommitGraph(repo: Repository, { anew = false } = {}): Promise<void> {
  if (!(await repo.exists())) return
  await removeMaintenanceLocks(repo)
  await repo.run('commit-graph write', {
    flags: ['--reachable', '--changed-paths', anew ? '--split=replace' : '--split', '--no-progress'],
    ...longRun,
  })
}

/** Longer than a push of many refs holds the lock of packed refs. */
const staleLockMs = 60 * 60_000

/** Packs loose refs into one file, which is faster to list. Durable. One process; does not block readers or writers. */
export async function packRefs(repo: Repository): Promise<void> {
  if (!(await repo.exists())) return
  await removeStaleLocks(repo, { olderThanMs: staleLockMs })
  try {
    await repo.run('pack-refs', { flags: ['--all', '--prune'], ...longRun })
  } catch (error) {
    if (error instanceof GitError && error.signal !== null)
      await removePackedLockOfKilled(repo, () => isInTransfer(repo))
    throw error
  }
  await syncFolder(repo.gitDir)
  await syncTree(join(repo.gitDir, 'refs'))
}

/** Repositories with smaller packs are fast without bitmaps. */
const bitmapBytes = 4 * 1024 * 1024

/** The bytes of all packs, and whether one of them, or all together, have a bitmap. */
async function packFacts(repo: Repository): Promise<{ bytes: number; packHasBitmap: boolean; hasBitmap: boolean }> {
  const folder = join(repo.objectDir, 'pack')
  const names = await namesIn(folder)
  const sizes = names.filter((name) => name.endsWith('.pack')).map((name) => sizeOf(join(folder, name)))
  const bitmaps = names.filter((name) => name.endsWith('.bitmap'))
  return {
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    packHasBitmap: bitmaps.some((name) => name.startsWith('pack-')),
    hasBitmap: bitmaps.length > 0,
  }
}

/** Whether clones are slow, because the repository is large and has no bitmap: it was pushed or imported as one pack. */
export async function lacksBitmap(repo: Repository): Promise<boolean> {
  const { bytes, hasBitmap } = await packFacts(repo)
  return bytes >= bitmapBytes && !hasBitmap
}

/**
 * Packs objects: `incremental` merges loose objects and small packs into a few of growing size, with an index of all packs, and
 * a bitmap of all packs if no single one has a bitmap; `full` makes one pack, with a bitmap, and keeps unreachable objects loose
 * for a later prune. `bitmap: false` writes none. One process, minutes for a large repository; does not block readers or
 * writers.
 */
export async function repack(repo: Repository, kind: 'incremental' | 'full', { bitmap = true } = {}): Promise<void> {
  if (!(await repo.exists())) return
  await removeMaintenanceLocks(repo)
  const { bytes, packHasBitmap } = await packFacts(repo)
  const writesBitmap = bitmap && (kind === 'full' || (bytes >= bitmapBytes && !packHasBitmap))
  const flags = [
    // Without lists for dumb clients: git would make their folders, also those of a repository that was removed meanwhile.
    '-n',
    ...(kind === 'full'
      ? (['-A', '-d', '-q', '-l'] as const)
      : (['-d', '-q', '-l', '--geometric=2', '--write-midx'] as const)),
    writesBitmap ? '--write-bitmap-index' : '--no-write-bitmap-index',
  ] as const
  const packs = join(repo.objectDir, 'pack')
  const unfinishedBefore = await unfinishedPacks(packs)
  try {
    await repo.run('repack', { flags, ...longRun })
  } catch (error) {
    // Git leaves an unfinished pack, which may occupy the remaining space.
    if (error instanceof Failure && error.kind === 'storage_full')
      for (const name of await unfinishedPacks(packs))
        if (!unfinishedBefore.includes(name)) await rm(join(packs, name), { force: true })
    throw error
  }
  await syncFolder(packs)
}

const unfinishedPacks = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.startsWith('tmp_pack_'))

/** Deletes unreachable loose objects older than `before`. Leave days: the objects of a running push are unreachable, too. */
export async function prune(repo: Repository, { before }: { before: Date }): Promise<void> {
  if (await repo.exists()) await repo.run('prune', { flags: [`--expire=${before.toISOString()}`], ...longRun })
}

/** The problems of a repository that cannot be mended, one of git's lines each; empty if there are none. Reads every object: one process. */
export async function fsck(repo: Repository): Promise<string[]> {
  const problems = await fsckOnce(repo)
  if (problems.length === 0) return []
  const { hasRemoved, rebuilt } = await repairIndexes(repo)
  return (await rebuilt) || hasRemoved ? fsckOnce(repo) : problems
}

async function fsckOnce(repo: Repository): Promise<string[]> {
  const { stdout, stderr, code } = await repo.run('fsck', {
    flags: ['--full', '--strict', '--no-dangling', '--no-progress'],
    accept: [0, ...Array.from({ length: 31 }, (_, index) => index + 1), 128],
    ...longRun,
  })
  const lines = `${stdout.toString('utf8')}\n${stderr}`
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('notice: '))
  return code === 0 ? lines.filter((line) => !line.startsWith('warning')) : lines
}

/**
 * Bytes of all files below `gitDir`, without those that can be made again; 0 if the directory does not exist. Walks the file system, no process.
 */
export const repositorySize = (gitDir: string): Promise<number> => sizeOfFolder(gitDir, new Turns())

/** Folders are read at once, because most have one or two files, for which asynchronous calls take four times the processor time. */
async function sizeOfFolder(folder: string, turns: Turns): Promise<number> {
  let total = 0
  for (const entry of entriesOf(folder)) {
    if (turns.isOver) await turns.next()
    if (isDerivedFile(entry.name) || isUnfinished(entry.name)) continue
    const path = join(folder, entry.name)
    total += entry.isDirectory() ? await sizeOfFolder(path, turns) : sizeOf(path)
  }
  return total
}

/** Packs and temporary files appear and disappear concurrently. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    return missingAs([])(error)
  }
}

/** Bytes of the objects that a push or a commit adds, as long as they are not in the repository yet. */
export const newBytesOf = async ({ base, objectDir }: Repository): Promise<number> =>
  base && objectDir !== base.objectDir ? repositorySize(objectDir) : 0

/** Bytes of a file; 0 if it has disappeared. */
const sizeOf = (path: string): number => lstatSync(path, { throwIfNoEntry: false })?.size ?? 0
