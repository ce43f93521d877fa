import { randomUUID } from 'node:crypto'
import { lstat, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ageOf } from '../../kernel/clock.ts'
import { missingAs, namesIn } from '../../kernel/missing.ts'

const temporary = /\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.(?:new|removed)$/

/** A temporary name beside a repository, used during its creation or removal. Only a crash leaves such a folder behind. */
export const temporaryName = (gitDir: string, why: 'new' | 'removed'): string => `${gitDir}.${randomUUID()}.${why}`

/** Whether `temporaryName` made the name. */
export const isTemporaryName = (name: string): boolean => temporary.test(name)

/** Removes leftovers of crashes beside a repository. No other process may be creating it. */
export async function removeLeftoversOf(gitDir: string): Promise<void> {
  const [folder, name] = [dirname(gitDir), basename(gitDir)]
  for (const found of await namesIn(folder))
    if (found.startsWith(`${name}.`) && found.replace(temporary, '') === name)
      await rm(join(folder, found), { recursive: true, force: true })
}

/**
 * Removes leftovers older than `olderThanMs` from a folder of repositories; younger ones may be in use. Returns the number
 * removed.
 */
export async function removeOldLeftovers(folder: string, olderThanMs: number): Promise<number> {
  let removed = 0
  for (const name of (await namesIn(folder)).filter(isTemporaryName)) {
    const path = join(folder, name)
    const facts = await stat(path).catch(missingAs(undefined))
    if (!facts || ageOf(facts.mtimeMs) < olderThanMs) continue
    await rm(path, { recursive: true, force: true })
    removed++
  }
  return removed
}

/** Whether it is the name of what git, and `inScratch`, write objects to before they have their place. */
export const isUnfinished = (name: string): boolean => /^(?:tmp_|\.tmp-)/.test(name)

/**
 * Removes what killed processes left among the objects of a repository: quarantines of pushes, packs of fetches. Only what is older than
 * `olderThanMs`, and only while no transfer of the repository runs, as `inUse` says; it is asked if there is something old. Returns
 * the number removed. Reads two folders.
 */
export async function removeUnfinishedObjects(
  gitDir: string,
  olderThanMs: number,
  inUse: () => Promise<boolean>,
): Promise<number> {
  const old: string[] = []
  for (const folder of [join(gitDir, 'objects'), join(gitDir, 'objects', 'pack')])
    for (const name of (await namesIn(folder)).filter(isUnfinished)) {
      const path = join(folder, name)
      if ((await ageOfYoungest(path)) >= olderThanMs) old.push(path)
    }
  if (old.length === 0 || (await inUse())) return 0
  for (const path of old) await rm(path, { recursive: true, force: true })
  return old.length
}

/** The age of a file, or of the youngest file or folder in a folder; 0 if there is none any more. */
async function ageOfYoungest(path: string): Promise<number> {
  const facts = await lstat(path).catch(missingAs(undefined))
  if (!facts) return 0
  const within = facts.isDirectory() ? await namesIn(path) : []
  const ages = await Promise.all(within.map((name) => ageOfYoungest(join(path, name))))
  return Math.min(ageOf(facts.mtimeMs), ...ages)
}
