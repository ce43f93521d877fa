import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Beside the place of a repository: one that is being made, or that is being taken away; `git/git.ts` names them. */
const name = /^\d+\.(?:wiki\.)?git(?:\.import)?\.[0-9a-f-]{36}\.(?:new|removed)$/

/** Whether that is what only a crash leaves there for longer than a moment. */
export const isLeftover = (entry: string): boolean => name.test(entry)

/** Removes what crashes before a moment left beside repositories. Returns how many. Reads every folder, no repository. */
export async function removeLeftovers(repositoriesDir: string, before: Date): Promise<number> {
  let removed = 0
  for (const storage of await readdir(repositoriesDir).catch(() => []))
    for (const shard of await readdir(join(repositoriesDir, storage)))
      for (const entry of (await readdir(join(repositoriesDir, storage, shard))).filter(isLeftover)) {
        const path = join(repositoriesDir, storage, shard, entry)
        // One that is being made or removed at this moment may go first.
        const found = await stat(path).catch(() => undefined)
        if (!found || found.mtime >= before) continue
        await rm(path, { recursive: true, force: true })
        removed++
      }
  return removed
}
