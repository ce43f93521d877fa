import { randomUUID } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ageOf } from '../../kernel/clock.ts'
import { missingAs } from '../../kernel/missing.ts'

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
    const facts = await stat(path).catch(() => undefined)
    if (!facts || ageOf(facts.mtimeMs) < olderThanMs) continue
    await rm(path, { recursive: true, force: true })
    removed++
  }
  return removed
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(missingAs([]))
