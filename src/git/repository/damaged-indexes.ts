import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { ageOf } from '../../kernel/clock.ts'
import { syncFolder } from '../../kernel/durable.ts'
import { isMissing, missingAs, namesIn } from '../../kernel/missing.ts'
import { removeGraph } from '../commit-graph/removal.ts'
import { argvFor } from '../runner/command.ts'
import { longRun } from '../runner/long-run.ts'
import type { GitContext } from './context.ts'
import { identityOf } from './file-identity.ts'

/*
 * Git checks its indexes of packs little when it reads them: with a damaged one it crashes, or does not find objects that are there. All can be
 * written again: the index of a pack from the pack, the others by maintenance.
 */

/** A repository on disk. */
type Place = { readonly git: GitContext; readonly gitDir: string }

export type Repair = {
  /** Files were removed, so that git may succeed now. */
  readonly hasRemoved: boolean
  /** Resolves when the indexes of packs have been written again, which takes as long as to read the packs; true if any were. */
  readonly rebuilt: Promise<boolean>
}

const nothing: Repair = { hasRemoved: false, rebuilt: Promise.resolve(false) }

/** The files as this process last checked them. */
const checked = new LRUCache<string, string>({ max: 1000 })
const running = new Map<string, Promise<Repair>>()

/**
 * Removes indexes and commit-graphs that do not match their checksums, and begins to write damaged or lost indexes of packs again. For a
 * repository that git failed to read. Reads all these files, but only once until one of them changes.
 */
export function repairIndexes(repo: Place): Promise<Repair> {
  const known = running.get(repo.gitDir)
  if (known) return known
  const repairing = repair(repo).finally(() => running.delete(repo.gitDir))
  running.set(repo.gitDir, repairing)
  return repairing
}

/** Like `repairIndexes`, without waiting: the next reader finds the result. */
export const repairInBackground = (repo: Place): void => void repairIndexes(repo).catch(() => {})

async function repair(repo: Place): Promise<Repair> {
  const { git, gitDir } = repo
  const folder = join(gitDir, 'objects/pack')
  const names = await namesIn(folder)
  const indexes = names.filter(isIndex)
  const graphs = await graphsOf(gitDir)
  const packs = names.filter((name) => name.endsWith('.pack'))
  const state = [...packs, ...(await factsOf([...indexes.map((name) => join(folder, name)), ...graphs]))].join()
  if (checked.get(gitDir) === state) return nothing
  const damaged: string[] = []
  for (const name of indexes) if (!(await isWhole(join(folder, name)))) damaged.push(name)
  // Without the index of all packs, their bitmap has no meaning.
  const toRemove = damaged.includes(allPacks) ? indexes.filter((name) => name.startsWith(allPacks)) : []
  toRemove.push(...damaged.filter((name) => !name.endsWith('.idx')))
  for (const name of toRemove) await rm(join(folder, name), { force: true })
  let isGraphDamaged = false
  for (const path of graphs) isGraphDamaged ||= !(await isWhole(path))
  if (isGraphDamaged) await removeGraph(gitDir)
  checked.set(gitDir, state)
  // They have mapped the files into memory, also those that another process has removed.
  git.helpers.retire(`${gitDir}\0`)
  const stems = [...damaged.filter((name) => name.endsWith('.idx')), ...(await lostIndexes(folder, names))].map(
    (name) => name.slice(0, -'.idx'.length),
  )
  const rebuilt = rebuild(repo, folder, stems)
  rebuilt.catch(() => {})
  return { hasRemoved: toRemove.length > 0 || isGraphDamaged, rebuilt }
}

const allPacks = 'multi-pack-index'

/** Each of these files ends with the SHA-1 of what is before. */
const isIndex = (name: string): boolean =>
  name === allPacks || /^(?:pack|multi-pack-index)-.*\.(?:idx|bitmap|rev)$/.test(name)

async function graphsOf(gitDir: string): Promise<string[]> {
  const info = join(gitDir, 'objects/info')
  const layers = await namesIn(join(info, 'commit-graphs'))
  return [
    join(info, 'commit-graph'),
    ...layers.filter((name) => name.endsWith('.graph')).map((name) => join(info, 'commit-graphs', name)),
  ]
}

const factsOf = (paths: readonly string[]): Promise<string[]> =>
  Promise.all(
    paths.map(async (path) => {
      const found = await stat(path).catch(missingAs(undefined))
      return found ? `${path} ${identityOf(found)}` : ''
    }),
  )

const sumBytes = 20
const blockBytes = 1024 * 1024

/** Whether a file ends with the SHA-1 of what is before, or is not there. */
async function isWhole(path: string): Promise<boolean> {
  try {
    await using file: FileHandle = await open(path, 'r')
    const { size } = await file.stat()
    if (size < sumBytes) return false
    const hash = createHash('sha1')
    const block = Buffer.allocUnsafe(Math.min(blockBytes, size))
    const read = async (at: number, bytes: number) => (await file.read(block, 0, bytes, at)).bytesRead === bytes
    const end = size - sumBytes
    for (let at = 0; at < end; at += blockBytes) {
      const bytes = Math.min(blockBytes, end - at)
      if (!(await read(at, bytes))) return false
      hash.update(block.subarray(0, bytes))
    }
    return (await read(end, sumBytes)) && hash.digest().equals(block.subarray(0, sumBytes))
  } catch (error) {
    if (isMissing(error)) return true
    // The disk cannot read it.
    if ((error as NodeJS.ErrnoException).code === 'EIO') return false
    throw error
  }
}

/** A pack and its index arrive and go one after the other. */
const settledAfterMs = 2000

/** The names of the indexes that packs have lost. */
async function lostIndexes(folder: string, names: readonly string[]): Promise<string[]> {
  const lost = names
    .filter((name) => /^pack-.*\.pack$/.test(name))
    .map((name) => name.replace(/pack$/, 'idx'))
    .filter((name) => !names.includes(name))
  return lost.length > 0 && ageOf((await stat(folder)).mtimeMs) > settledAfterMs ? lost : []
}

/** Git begins the names of unfinished files so; maintenance removes those of killed processes. */
const unfinished = () => `tmp_idx_${randomUUID()}`

async function rebuild({ git, gitDir }: Place, folder: string, stems: readonly string[]): Promise<boolean> {
  for (const stem of stems) {
    const made = join(folder, unfinished())
    try {
      const words = argvFor('index-pack', {
        flags: ['--no-rev-index', '-o'],
        args: [made, join(folder, `${stem}.pack`)],
      })
      // In its own repository, git would compare the objects with those that the damaged index finds.
      const child = await git.runner.start([`--git-dir=${await git.emptyDir()}`, ...words], {
        owner: gitDir,
        ...longRun,
      })
      child.resume()
      // Otherwise the pack is damaged itself, or has been removed.
      if ((await child.done).code !== 0) continue
      await rename(made, join(folder, `${stem}.idx`))
      await syncFolder(folder)
    } finally {
      await rm(made, { force: true })
    }
  }
  if (stems.length > 0) git.helpers.retire(`${gitDir}\0`)
  return stems.length > 0
}
