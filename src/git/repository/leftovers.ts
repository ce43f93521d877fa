import { randomUUID } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ageOf } from '../../kernel/clock.ts'

const temporary = /\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.(?:new|removed)$/

/** A name beside a repository under which it is made, or goes. Only a crash leaves one behind. */
export const temporaryName = (gitDir: string, why: 'new' | 'removed'): string => `${gitDir}.${randomUUID()}.${why}`

/** Whether a name is one of `temporaryName`. */
export const isTemporaryName = (name: string): boolean => temporary.test(name)

/** Removes what crashes left behind of a repository that nobody is making. */
export async function removeLeftoversOf(gitDir: string): Promise<void> {
  const [folder, name] = [dirname(gitDir), basename(gitDir)]
  for (const found of await namesIn(folder))
    if (found.startsWith(`${name}.`) && found.replace(temporary, '') === name)
      await rm(join(folder, found), { recursive: true, force: true })
}

/** The same of all repositories in a folder, for what is so old that nobody is at it. Returns how many went. */
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

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
